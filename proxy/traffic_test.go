package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// upstream answers one request after the other as it is told to, and remembers how it was asked.
type upstream struct {
	mu     sync.Mutex
	answer answer
	asked  *http.Request
	body   []byte
}

type answer struct {
	header http.Header
	pieces [][]byte
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	u.mu.Lock()
	u.asked, u.body = r, body
	answer := u.answer
	u.mu.Unlock()
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(http.StatusOK)
	for _, piece := range answer.pieces {
		_, _ = w.Write(piece)
		_ = http.NewResponseController(w).Flush()
	}
}

// before makes a proxy before one provider of every wire at that address, and gives its address.
func before(t *testing.T, address string, models ...string) string {
	t.Helper()
	face := httptest.NewServer(front(t, address, models...))
	t.Cleanup(face.Close)
	return face.URL
}

func front(t testing.TB, address string, models ...string) *proxy.Proxy {
	t.Helper()
	set, err := provider.New([]provider.Entry{
		{Name: "anthropic", Type: "anthropic", BaseURL: address, Key: "key-of-the-provider"},
		{Name: "openai", Type: "openai", BaseURL: address + "/v1", Key: "key-of-the-provider"},
		{Name: "openai-responses", Type: "openai-responses", BaseURL: address + "/v1", Key: "key-of-the-provider"},
		{Name: "gemini", Type: "gemini", BaseURL: address, Key: "key-of-the-provider"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := runner.New(runner.WithModels(set, "anthropic/m"), runner.WithHook("h", hooks.Func(advice)))
	p, err := proxy.New(proxy.Config{
		Runs: calls{r, set}, Routes: []proxy.Route{{Match: "*", Models: models, AutoRecover: true, Keep: recovery.KeepFigures}},
		Token: func(sum [32]byte) (bool, error) { return sum == sha256.Sum256([]byte(token)), nil },
		Wire:  func(entry string) string { return entry },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// credentials are headers in which callers send the proxy's token, and the proxy the provider's key.
var credentials = []string{"X-Api-Key", "Authorization", "X-Goog-Api-Key"}

// besides are headers that are between neighbours, or say how long the body is.
var besides = []string{"Accept-Encoding", "Content-Length", "Date", "Transfer-Encoding", "X-Mulligan-Attempts", "X-Mulligan-Model", "X-Mulligan-Run"}

// without is a header without what may differ.
func without(h http.Header, names []string) map[string][]string {
	kept := map[string][]string{}
	for name, values := range h {
		if !slices.Contains(names, name) {
			kept[name] = values
		}
	}
	return kept
}

// answers are what the providers of each wire say, with things in it that no reader of ours knows.
var answers = map[string]struct{ stream, whole string }{
	"messages": {
		": hello\n\nevent: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-2026\",\"content\":[],\"brand\": [1.0],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"\\u00d8 hm\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2Vh\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"It is  wet.\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"weather\",\"input\":{}}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"city\\\": \\\"Os\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"lo\\\"}\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9},\"context_management\":{\"applied_edits\":[]}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"{\n \"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"brand\":1.0,\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n",
	},
	"chat": {
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m-2026\",\"obfuscation\":\"xyz\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n: wait\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It is \\u00d8 \"},\"finish_reason\":null}]}\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{ }\"}}]},\"finish_reason\":null}]}\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n" +
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\ndata: [DONE]\n\n",
		"{\"id\":\"c\",\"object\":\"chat.completion\",\"brand\": {},\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}",
	},
	"responses": {
		"event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"output\":[]}}\n\n" +
			"event: response.brand_new\ndata: {\"type\":\"response.brand_new\",\"sequence_number\":1,\"x\": 1.0}\n\n" +
			"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":2,\"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"in_progress\",\"content\":[]}}\n\n" +
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":3,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"some text\"}\n\n" +
			"event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"sequence_number\":4,\"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"some text\",\"annotations\":[]}]}}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":5,\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"some text\",\"annotations\":[]}]}],\"usage\":{\"input_tokens\":1,\"output_tokens\":2,\"total_tokens\":3}}}\n\n",
		"{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"brand\":1,\"error\":null,\"output\":[{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\",\"annotations\":[]}]}]}",
	},
	"gemini": {
		"data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"some \"}],\"role\": \"model\"},\"index\": 0,\"brand\":{}}],\"responseId\": \"g1\"}\r\n\r\n" +
			"data: {\"candidates\": [{\"content\": {\"parts\": [{\"functionCall\": {\"name\": \"weather\",\"args\": {\"n\": 1.0}},\"thoughtSignature\":\"c2Vh\"}],\"role\": \"model\"},\"index\": 0}]}\r\n\r\n" +
			"data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 1,\"candidatesTokenCount\": 2}}\r\n\r\n",
		"{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}],\"brand\":1}",
	},
}

// cut cuts data into pieces at random places.
func cut(t *rapid.T, data []byte, what string) (pieces [][]byte) {
	for len(data) > 0 {
		n := min(len(data), rapid.SampledFrom([]int{1, 2, 7, 40, 300, 5000}).Draw(t, what))
		pieces, data = append(pieces, data[:n]), data[n:]
	}
	return pieces
}

// inPieces reads one piece at a time.
type inPieces struct{ pieces [][]byte }

func (r *inPieces) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[0])
	if r.pieces[0] = r.pieces[0][n:]; len(r.pieces[0]) == 0 {
		r.pieces = r.pieces[1:]
	}
	return n, nil
}

// recorded is a request of an official client library, as it was on the wire.
func recorded(t *testing.T, path string) (*http.Request, []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, body
}

// TestI54: where the provider speaks the caller's wire and nothing fails, the bytes that reach it
// and the caller are those that the other one sent, however they are cut, but for the model's name,
// the credential and what is between neighbours.
func TestI54(t *testing.T) {
	u := &upstream{}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	proxies := map[string]string{"m": before(t, server.URL, "$provider/$model"), "another-name": before(t, server.URL, "$provider/another-name")}
	paths, err := filepath.Glob(filepath.Join("testdata", "traffic", "*.http"))
	if err != nil || len(paths) != 8 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".http")
		t.Run(name, func(t *testing.T) {
			request, body := recorded(t, path)
			wire, form, _ := strings.Cut(name, "-")
			said, kind := answers[wire].stream, "text/event-stream; charset=utf-8"
			if form == "whole" {
				said, kind = answers[wire].whole, "application/json; charset=UTF-8"
			}
			rapid.Check(t, func(t *rapid.T) {
				model := rapid.SampledFrom([]string{"m", "another-name"}).Draw(t, "model")
				pieces := cut(t, []byte(said), "answer") // which may break off, as rapid looks for a shorter case
				u.mu.Lock()
				u.answer = answer{pieces: pieces, header: http.Header{
					"Content-Type": {kind}, "Request-Id": {"req_1"}, "Cache-Control": {"no-store, private"}, "X-Ratelimit-Remaining-Tokens": {"7"}, "Brand-New": {"a", "b"},
				}}
				u.mu.Unlock()
				status, header, heard := send(t, proxies[model], request, cut(t, body, "request"))
				u.mu.Lock()
				defer u.mu.Unlock()
				u.same(t, request, body, model)
				if status != http.StatusOK || string(heard) != said {
					t.Fatalf("the caller hears %d\n%s\nand it was said\n%s", status, heard, said)
				}
				if a, b := without(header, besides), without(u.answer.header, nil); !maps.EqualFunc(a, b, slices.Equal) {
					t.Fatalf("the caller gets the headers %v of %v", a, b)
				}
			})
		})
	}
}

// send makes a recorded call of a proxy, its body in pieces.
func send(t *rapid.T, at string, request *http.Request, pieces [][]byte) (status int, header http.Header, heard []byte) {
	req := request.Clone(context.Background())
	again, err := http.NewRequestWithContext(context.Background(), req.Method, at+request.URL.RequestURI(), &inPieces{pieces})
	if err != nil {
		t.Fatal(err)
	}
	again.Header, again.ContentLength = req.Header, request.ContentLength
	for _, name := range credentials {
		if value := again.Header.Get(name); value != "" {
			again.Header.Set(name, strings.Replace(value, "sk-observer-0123456789", token, 1))
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(again)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if heard, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, heard
}

// same holds how the provider was asked against how the caller asks.
func (u *upstream) same(t *rapid.T, request *http.Request, body []byte, model string) {
	path := strings.Replace(request.URL.Path, "/models/m:", "/models/"+model+":", 1)
	if u.asked.Method != request.Method || u.asked.URL.Path != path || u.asked.URL.RawQuery != request.URL.RawQuery {
		t.Fatalf("asked is %s %s, and not %s %s", u.asked.Method, u.asked.URL, request.Method, request.URL)
	}
	want := bytes.Replace(body, []byte(`"model":"m"`), []byte(`"model":`+strconv.Quote(model)), 1)
	if !bytes.Equal(u.body, want) {
		t.Fatalf("asked is\n%s\nand not\n%s", u.body, want)
	}
	up, down := without(u.asked.Header, append(besides, credentials...)), without(request.Header, append(besides, credentials...))
	if !maps.EqualFunc(up, down, slices.Equal) {
		t.Fatalf("the provider gets the headers %v of %v", up, down)
	}
	if all := strings.Join(slices.Concat(slices.Collect(maps.Values(u.asked.Header))...), " "); strings.Count(all, "key-of-the-provider") != 1 || strings.Contains(all, token) {
		t.Fatalf("S36: the provider gets %v", u.asked.Header)
	}
}
