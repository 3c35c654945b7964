package provider_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// nativeBody is what a caller wrote, and what of it reaches the provider.
var nativeBody = map[string][2]string{
	provider.TypeAnthropic: {"{ \"max_tokens\":1e2,\n\"model\" : \"alias\",\"brand_new\":{\"a\":[1.0]}}", "{ \"max_tokens\":1e2,\n\"model\" : \"m\",\"brand_new\":{\"a\":[1.0]}}"},
	provider.TypeOpenAI:    {`{"brand_new":"\u00e4","model":"alias","stream":true}`, `{"brand_new":"\u00e4","model":"m","stream":true}`},
	provider.TypeResponses: {`{"model":"alias","client_metadata":{},"stream":true}`, `{"model":"m","client_metadata":{},"stream":true}`},
	provider.TypeGemini:    {`{"contents":[],"brand_new":1}`, `{"contents":[],"brand_new":1}`},
}

var nativeDocuments = map[string]string{
	provider.TypeAnthropic: `{"id":"msg_1","type":"message","role":"assistant","brand":1,"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
	provider.TypeOpenAI:    `{"id":"c","object":"chat.completion","brand":1,"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`,
	provider.TypeResponses: `{"id":"resp_1","object":"response","status":"completed","brand":1,"output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}`,
	provider.TypeGemini:    `{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}],"brand":1}`,
}

func native(wire string, stream bool) llm.Request {
	return llm.Request{Model: wire + "/m", Native: &llm.Native{
		Wire: wire, Body: []byte(nativeBody[wire][0]), Stream: stream, Query: "beta=true&key=stolen",
		Header: map[string][]string{"anthropic-beta": {"a", "b"}, "authorization": {"Bearer stolen"}, "x-api-key": {"stolen"}, "x-goog-api-key": {"stolen"}, "cookie": {"stolen"}, "host": {"stolen"}},
	}}
}

// played is what came, as it came and as it was understood.
type played struct {
	head  llm.Frame
	data  string
	heard llm.Answer
	err   error
}

func play(t *testing.T, handler http.HandlerFunc, request llm.Request) (p played) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	model, err := set(t, server.URL).Model(request.Model)
	if err != nil {
		t.Fatal(err)
	}
	for delta, err := range model.Stream(t.Context(), request) {
		p.err = err
		p.heard.Add(delta)
		switch f := delta.Frame; {
		case delta.Kind == llm.DeltaFrame && f == nil:
			t.Errorf("%+v", delta)
		case f == nil:
		case f.Status != 0 && p.head.Status == 0 && p.data == "":
			p.head = *f
		case f.Status != 0:
			t.Error("a second head")
		default:
			p.data += string(f.Data)
		}
	}
	return p
}

// TestNative: a caller's own request goes out as it was, but for the model and the credential,
// and the answer is told as it came.
func TestNative(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			stream := ": first\n\n" + string(recording(wire))
			for _, answer := range []struct{ kind, body string }{{"text/event-stream", stream}, {"application/json", nativeDocuments[wire]}} {
				streams := answer.kind == "text/event-stream"
				got := play(t, func(w http.ResponseWriter, r *http.Request) {
					asNative(t, wire, streams, r)
					w.Header().Set("Content-Type", answer.kind)
					w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "7")
					_, _ = io.WriteString(w, answer.body)
				}, native(wire, streams))
				if got.err != nil || got.heard.TextBytes == 0 || got.heard.Stop != llm.StopEnd {
					t.Errorf("%s: %v, %+v", answer.kind, got.err, got.heard)
				}
				if got.data != answer.body {
					t.Errorf("%s came as\n%s", answer.kind, got.data)
				}
				if h := http.Header(got.head.Header); got.head.Status != 200 || h.Get("Content-Type") != answer.kind || h.Get("Anthropic-Ratelimit-Requests-Remaining") != "7" {
					t.Errorf("%+v", got.head)
				}
			}
		})
	}
}

func asNative(t *testing.T, wire string, streams bool, r *http.Request) {
	t.Helper()
	body, _ := io.ReadAll(r.Body)
	if string(body) != nativeBody[wire][1] {
		t.Errorf("sent %s", body)
	}
	if verb := map[bool]string{true: ":streamGenerateContent", false: ":generateContent"}[streams]; wire == provider.TypeGemini && !strings.HasSuffix(r.URL.Path, "/models/m"+verb) {
		t.Errorf("asked %s", r.URL)
	}
	if r.URL.Query().Get("beta") != "true" || strings.Contains(r.URL.RawQuery, "stolen") || r.URL.Query().Get("alt") != map[bool]string{true: "sse"}[streams && wire == provider.TypeGemini] {
		t.Errorf("asked %s", r.URL)
	}
	if r.Header.Values("Anthropic-Beta")[1] != "b" || r.Host == "stolen" {
		t.Errorf("%+v", r.Header)
	}
	credentials := 0
	for name, values := range r.Header {
		all := strings.Join(values, " ")
		if strings.Contains(all, "stolen") {
			t.Errorf("S14: %s: %s", name, all)
		}
		if strings.Contains(all, key) {
			credentials++
		}
	}
	if credentials != 1 {
		t.Errorf("S14: %d credentials in %+v", credentials, r.Header)
	}
}

// TestNativeRefused: what a provider says to a request that it refuses comes as it is, before
// the failure; and nobody else is shown frames.
func TestNativeRefused(t *testing.T) {
	const body = `{"error":{"type":"invalid_request_error","message":"brand_new: Extra inputs are not permitted"}}`
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_1")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	}
	for _, wire := range wires {
		got := play(t, refuse, native(wire, true))
		if got.err == nil || got.head.Status != 400 || http.Header(got.head.Header).Get("Request-Id") != "req_1" || got.data != body {
			t.Errorf("%s: %v, %+v", wire, got.err, got)
		}
		other := ask(wire)
		other.Native = native("another", true).Native
		if got = play(t, refuse, other); got.err == nil || got.head.Status != 0 || got.data != "" {
			t.Errorf("%s: %v, %+v", wire, got.err, got)
		}
	}
}

// TestNativeHidesKeys: a key that a server repeats is shown to nobody.
func TestNativeHidesKeys(t *testing.T) {
	got := play(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Said", r.Header.Get("X-Api-Key"))
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": "+r.Header.Get("X-Api-Key")+"\n\n"+string(recording(provider.TypeAnthropic)))
	}, native(provider.TypeAnthropic, true))
	if said := http.Header(got.head.Header).Get("X-Said"); strings.Contains(got.data+said, key) || said == "" || !strings.HasPrefix(got.data, ": ") {
		t.Errorf("%s, %.80s", said, got.data)
	}
}

// TestNativeCut: of an answer that breaks off all is told that came, and of an event that is
// an error nothing but the failure.
func TestNativeCut(t *testing.T) {
	begin := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{}}}\n\n"
	for _, end := range []string{"", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"} {
		got := play(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, begin+end)
		}, native(provider.TypeAnthropic, true))
		if got.err == nil || got.data != begin {
			t.Errorf("%v, %q", got.err, got.data)
		}
	}
}
