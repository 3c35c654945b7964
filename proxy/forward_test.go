package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
)

// passed is what a provider got that is no model's call.
type passed struct {
	method, target, body string
	header               http.Header
}

// forwarder is a world whose provider answers what is no model's call with what it got.
func forwarder(t *testing.T, routes ...proxy.Route) (*world, chan passed) {
	t.Helper()
	got := make(chan passed, 100)
	w := newWorld(t, routes...)
	w.answerOther(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- passed{r.Method, r.RequestURI, string(body), r.Header.Clone()}
		rw.Header().Set("X-Of-Provider", "yes")
		rw.Header().Set("Set-Cookie", "of=provider")
		rw.Header().Set("Connection", "X-Hop")
		rw.Header().Set("X-Hop", "no")
		rw.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(rw, "it got "+string(body)+" for key-of-the-provider")
	})
	return w, got
}

// ask makes a request as its headers say, and gives all that comes.
func (w *world) ask(method, path, body string, header http.Header) (said, string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.at+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header = header
	return w.hears(req)
}

const token = "the-token-of-the-proxy"

// The headers of clients of each API.
var (
	anthropicClient = http.Header{"X-Api-Key": {token}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	claudeCode      = http.Header{"Authorization": {"Bearer " + token}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	openAIClient    = http.Header{"Authorization": {"Bearer " + token}, "X-Stainless-Lang": {"python"}, "Content-Type": {"application/json"}}
	geminiClient    = http.Header{"X-Goog-Api-Key": {token}, "Content-Type": {"application/json"}}
)

// with is h with more headers.
func with(h http.Header, more ...string) http.Header {
	h = h.Clone()
	for i := 0; i < len(more); i += 2 {
		h.Add(more[i], more[i+1])
	}
	return h
}

// TestForwarded: what is no model's call goes to the provider whose API it is of, with the
// model's name there and the provider's own credential, and nothing that was for the proxy.
func TestForwarded(t *testing.T) {
	plain := proxy.Route{Match: "*", Models: []string{"$provider/$model", "openai/two"}, AutoRecover: true, Keep: recovery.KeepFigures}
	fast := proxy.Route{Match: "fast", Models: []string{"$provider/small-1", "openai/two"}, AutoRecover: true}
	for name, c := range map[string]struct {
		method, path, body string
		header             http.Header
		want               string // that the provider is asked
		sent               string // body; "" = the same
		key                string // header of the provider's credential
	}{
		"models of Anthropic":          {"GET", "/v1/models?limit=3&key=x", "", anthropicClient, "/v1/models?limit=3", "", "X-Api-Key"},
		"models of Anthropic, bearer":  {"GET", "/v1/models", "", claudeCode, "/v1/models", "", "X-Api-Key"},
		"models of OpenAI":             {"GET", "/v1/models", "", openAIClient, "/v1/models", "", "Authorization"},
		"models of Gemini":             {"GET", "/v1beta/models?pageSize=3", "", geminiClient, "/v1beta/models?pageSize=3", "", "X-Goog-Api-Key"},
		"tokens are counted":           {"POST", "/v1/messages/count_tokens?beta=true", `{"model":"one", "messages":[]}`, anthropicClient, "/v1/messages/count_tokens?beta=true", "", "X-Api-Key"},
		"by another name":              {"POST", "/v1/messages/count_tokens", `{"messages":[],"model" : "fast"}`, anthropicClient, "/v1/messages/count_tokens", `{"messages":[],"model" : "small-1"}`, "X-Api-Key"},
		"embeddings":                   {"POST", "/v1/embeddings", `{"model":"e","input":"x"}`, openAIClient, "/v1/embeddings", "", "Authorization"},
		"a response is fetched":        {"GET", "/v1/responses/resp_1?include=x", "", openAIClient, "/v1/responses/resp_1?include=x", "", "Authorization"},
		"a response is deleted":        {"DELETE", "/v1/responses/resp_1", "", openAIClient, "/v1/responses/resp_1", "", "Authorization"},
		"stored completions":           {"GET", "/v1/chat/completions", "", openAIClient, "/v1/chat/completions", "", "Authorization"},
		"a model's card":               {"GET", "/v1/models/fast", "", openAIClient, "/v1/models/small-1", "", "Authorization"},
		"a model's card with a slash":  {"GET", "/v1/models/org/fine:1", "", openAIClient, "/v1/models/org/fine:1", "", "Authorization"},
		"Gemini counts tokens":         {"POST", "/v1beta/models/fast:countTokens", `{"contents":[]}`, geminiClient, "/v1beta/models/small-1:countTokens", `{"model":"models/small-1","contents":[]}`, "X-Goog-Api-Key"},
		"Gemini's files":               {"POST", "/upload/v1beta/files?uploadType=multipart", "no json", with(geminiClient, "X-Goog-Upload-Command", "start"), "/upload/v1beta/files?uploadType=multipart", "", "X-Goog-Api-Key"},
		"a file":                       {"POST", "/v1/files", "--x\r\n", http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"multipart/form-data; boundary=x"}}, "/v1/files", "", "Authorization"},
		"a compressed body":            {"POST", "/v1/embeddings", "compressed", with(openAIClient, "Content-Encoding", "gzip"), "/v1/embeddings", "", "Authorization"},
		"something newer":              {"POST", "/v1/newest/thing", `{}`, claudeCode, "/v1/newest/thing", "", "X-Api-Key"},
		"headers for the proxy":        {"GET", "/v1/files/f", "", with(openAIClient, "X-Mulligan-Session", "s", "X-Forwarded-For", "1.2.3.4", "Cookie", "c=1", "Keep-Alive", "3"), "/v1/files/f", "", "Authorization"},
		"headers between two alone":    {"GET", "/v1/files/f", "", with(openAIClient, "Connection", "X-Own", "X-Own", "no"), "/v1/files/f", "", "Authorization"},
		"a caller's other credentials": {"GET", "/v1/batches/b", "", with(openAIClient, "X-Goog-Api-Key", token, "Api-Key", "of-the-caller"), "/v1/batches/b", "", "Authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, got := forwarder(t, fast, plain)
			resp, text := w.ask(c.method, c.path, c.body, c.header)
			if resp.StatusCode != http.StatusAccepted || len(got) != 1 {
				t.Fatalf("%d %s", resp.StatusCode, text)
			}
			p := <-got
			if want := (passed{method: c.method, target: c.want, body: c.sent}); c.sent == "" && p.body != c.body || c.sent != "" && p.body != c.sent || p.method != want.method || p.target != want.target {
				t.Errorf("the provider got %s %s %s", p.method, p.target, p.body)
			}
			if !strings.Contains(p.header.Get(c.key), "key-of-the-provider") {
				t.Errorf("its credential is %q", p.header.Get(c.key))
			}
			for name, values := range p.header {
				if all := strings.Join(values, " "); strings.Contains(all, token) || strings.Contains(all, "of-the-caller") ||
					slices.Contains([]string{"X-Mulligan-Session", "X-Forwarded-For", "Cookie", "Keep-Alive", "X-Own", "Connection"}, name) {
					t.Errorf("S36: the provider got %s: %s", name, all)
				}
			}
			if resp.Header.Get("X-Of-Provider") != "yes" || resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("X-Hop") != "" {
				t.Errorf("the caller got %v", resp.Header)
			}
			if strings.Contains(text, "key-of") || !strings.HasPrefix(text, "it got "+p.body) {
				t.Errorf("the caller got %s", text)
			}
		})
	}
}

// TestForwardRefused: nothing is sent where it is not clear to whom, and the caller hears why in
// its own wire's words.
func TestForwardRefused(t *testing.T) {
	claude := proxy.Route{Match: "claude-*", Models: []string{"anthropic/$model"}}
	gpt := proxy.Route{Match: "gpt-*", Models: []string{"openai/$model"}}
	codex := proxy.Route{Match: "codex-*", Models: []string{"openai-responses/$model"}}
	home := proxy.Route{Match: "home-*", Models: []string{"openai/$model"}, LocalOnly: true}
	for name, c := range map[string]struct {
		routes             []proxy.Route
		method, path, body string
		header             http.Header
		want               int
		says, shape        string
	}{
		"nobody speaks it":            {[]proxy.Route{gpt}, "GET", "/v1/models", "", anthropicClient, 404, "anthropic", `"type":"error"`},
		"no route":                    {[]proxy.Route{gpt}, "POST", "/v1/embeddings", `{"model":"other"}`, openAIClient, 404, "nothing was sent", `"code":`},
		"two it may be for":           {[]proxy.Route{gpt, codex}, "GET", "/v1/files", "", openAIClient, 400, "name a model", `"code":`},
		"no key at all":               {[]proxy.Route{gpt}, "GET", "/v1/models", "", http.Header{}, 401, "token", `"error"`},
		"another key":                 {[]proxy.Route{gpt}, "GET", "/v1/models", "", http.Header{"Authorization": {"Bearer sk-of-the-caller"}}, 401, "token", `"error"`},
		"S38: kept here":              {[]proxy.Route{home, gpt}, "POST", "/v1/embeddings", `{"model":"home-1","input":"private"}`, openAIClient, 404, "may go to", `"error"`},
		"S38: perhaps kept here":      {[]proxy.Route{home, gpt}, "POST", "/v1/files", "private", with(http.Header{"Authorization": {"Bearer " + token}}, "Content-Type", "text/plain"), 404, "keeps contents on this machine", `"error"`},
		"two models":                  {[]proxy.Route{home, gpt}, "POST", "/v1/embeddings", `{"model":"home-1","model":"gpt-1","input":"private"}`, openAIClient, 400, "model is there twice", `"error"`},
		"S38: by another key":         {[]proxy.Route{home, gpt}, "POST", "/v1/embeddings", `{"model":"home-1","Model":"gpt-1","input":"private"}`, openAIClient, 404, "may go to", `"error"`},
		"S38: by another key alone":   {[]proxy.Route{home, gpt}, "POST", "/v1/embeddings", `{"Model":"gpt-1","input":"private"}`, openAIClient, 404, "keeps contents on this machine", `"error"`},
		"no API has it":               {[]proxy.Route{gpt}, "GET", "/v2/models", "", openAIClient, 404, "whose API", `"error"`},
		"a method that no API has":    {[]proxy.Route{gpt}, "TRACE", "/v1/files", "", openAIClient, 405, "method", `"error"`},
		"a preflight":                 {[]proxy.Route{gpt}, "OPTIONS", "/v1/files", "", openAIClient, 405, "method", `"error"`},
		"a WebSocket":                 {[]proxy.Route{gpt}, "GET", "/v1/responses", "", with(openAIClient, "Connection", "Upgrade", "Upgrade", "websocket"), 426, "WebSocket", `"error"`},
		"a WebSocket of Gemini":       {[]proxy.Route{gpt}, "GET", "/v1beta/live", "", with(geminiClient, "Connection", "Upgrade", "Upgrade", "websocket"), 426, "WebSocket", `"status"`},
		"an escaped slash":            {[]proxy.Route{gpt}, "GET", "/v1/models/a%2fb", "", openAIClient, 400, "escaped", `"error"`},
		"an escaped backslash":        {[]proxy.Route{gpt}, "GET", "/v1/models/a%5Cb", "", openAIClient, 400, "escaped", `"error"`},
		"an empty part":               {[]proxy.Route{gpt}, "GET", "//v1/models", "", openAIClient, 400, "empty part", `"error"`},
		"an empty part inside":        {[]proxy.Route{gpt}, "GET", "/v1//models", "", openAIClient, 400, "empty part", `"error"`},
		"upwards":                     {[]proxy.Route{gpt}, "GET", "/v1/files/../../admin", "", openAIClient, 400, "upwards", `"error"`},
		"upwards, escaped":            {[]proxy.Route{gpt}, "GET", "/v1/files/%2e%2E/admin", "", openAIClient, 400, "upwards", `"error"`},
		"upwards, escaped in a model": {[]proxy.Route{gpt}, "POST", "/v1beta/models/..:generateContent/..", "", geminiClient, 400, "upwards", `"status"`},
		"a line break":                {[]proxy.Route{gpt}, "GET", "/v1/files/a%0d%0aX:1", "", openAIClient, 400, "character", `"error"`},
		"a zero":                      {[]proxy.Route{gpt}, "GET", "/v1/files/a%00", "", openAIClient, 400, "character", `"error"`},
		"a long path":                 {[]proxy.Route{gpt}, "GET", "/v1/files/" + strings.Repeat("a", 9000), "", openAIClient, 400, "long", `"error"`},
		"one that fits":               {[]proxy.Route{claude, gpt}, "GET", "/v1/models", "", openAIClient, 202, "it got", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, got := forwarder(t, c.routes...)
			resp, text := w.ask(c.method, c.path, c.body, c.header)
			if resp.StatusCode != c.want || !strings.Contains(text, c.says) || !strings.Contains(text, c.shape) {
				t.Errorf("%d %s", resp.StatusCode, text)
			}
			if asked := len(got) > 0; asked != (c.want == 202) {
				t.Errorf("the provider was asked %d times", len(got))
			}
		})
	}
}

// TestForwardStreams: both sides are heard while they still speak.
func TestForwardStreams(t *testing.T) {
	w, _ := forwarder(t, fallback)
	heard := make(chan string, 3)
	w.answerOther(func(rw http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(rw)
		_ = control.EnableFullDuplex()
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			heard <- lines.Text()
			_, _ = fmt.Fprintf(rw, "echo %s\n", lines.Text())
			_ = control.Flush()
		}
	})
	body, more := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.at+"/v1/audio/transcriptions", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/octet-stream"}}
	go func() {
		_, _ = io.WriteString(more, "one\n")
	}()
	resp, err := http.DefaultClient.Do(&http.Request{Method: req.Method, URL: req.URL, Header: req.Header, Body: body, ContentLength: -1})
	if got := <-heard; err != nil || got != "one" {
		t.Fatal(got, err)
	}
	defer resp.Body.Close()
	back := bufio.NewReader(resp.Body)
	for _, line := range []string{"one", "two", "three"} {
		if got, err := back.ReadString('\n'); got != "echo "+line+"\n" {
			t.Fatalf("%q %v", got, err)
		}
		next := map[string]string{"one": "two\n", "two": "three\n"}[line]
		if next == "" {
			more.Close()
			break
		}
		if _, err := io.WriteString(more, next); err != nil {
			t.Fatal(err)
		}
		<-heard
	}
	if rest, err := io.ReadAll(back); len(rest) > 0 || err != nil {
		t.Errorf("%q %v", rest, err)
	}
}

// TestForwardBreaksOff: an answer that breaks off does not look whole, and one that does not come
// is an error of the caller's wire.
func TestForwardBreaksOff(t *testing.T) {
	w, _ := forwarder(t, fallback)
	w.answerOther(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "half")
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.at+"/v1/files/f/content", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = openAIClient
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("it passes for whole: %q", text)
	}
	w.answerOther(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if resp, text := w.ask("GET", "/v1/files/f", "", openAIClient); resp.StatusCode != http.StatusBadGateway || !strings.Contains(text, `"error"`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	w.answerOther(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", "https://elsewhere.example/")
		rw.WriteHeader(http.StatusTemporaryRedirect)
	})
	if resp, text := w.ask("GET", "/v1/files/f", "", openAIClient); resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Location") != "" {
		t.Errorf("a redirect: %d %v %s", resp.StatusCode, resp.Header, text)
	}
}

// TestForwardGone: a caller that goes away ends what it asked for.
func TestForwardGone(t *testing.T) {
	w, _ := forwarder(t, fallback)
	began, ended := make(chan bool, 1), make(chan bool, 1)
	w.answerOther(func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).Flush()
		began <- true
		<-r.Context().Done()
		ended <- true
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.at+"/v1/files/f/content", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = openAIClient
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	cancel()
	resp.Body.Close()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the provider is still being asked")
	}
}

// dial gives what a proxy answers to bytes, until it hangs up or has nothing more to say.
func (w *world) dial(raw string) (status []int, open bool) {
	w.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.at, "http://"))
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, raw); err != nil {
		w.Fatal(err)
	}
	from := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			return status, false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		status = append(status, resp.StatusCode)
		if resp.Close {
			continue // nothing should follow
		}
		_ = conn.SetDeadline(time.Now().Add(300 * time.Millisecond))
		if _, err := from.Peek(1); err != nil {
			return status, true
		}
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	}
}
