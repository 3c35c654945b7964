package gemini

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

const key = "test-key-123456"

// at is a Model that asks base.
func at(t testing.TB, base string) *Model {
	t.Helper()
	m, err := New(Config{BaseURL: base, Key: func() (string, error) { return key, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func hear(t testing.TB, m *Model, request llm.Request) (llm.Answer, error) {
	t.Helper()
	var answer llm.Answer
	for delta, err := range m.Stream(t.Context(), request) {
		if err != nil {
			return answer, err
		}
		answer.Add(delta)
	}
	return answer, nil
}

// TestRequestLine: the key is in a header only, and a model's name stays within its
// segment of the path.
func TestRequestLine(t *testing.T) {
	asked := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- r
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+parts(`{"text":"Hi"}`)+"\ndata: "+finish("STOP")+"\n")
	}))
	t.Cleanup(server.Close)
	for base, path := range map[string]string{"": "/v1beta", "/": "/v1beta", "/v1beta": "/v1beta", "/v1beta/": "/v1beta", "/proxy": "/proxy/v1beta"} {
		for model, segment := range map[string]string{"gemini-3-flash": "gemini-3-flash", "a/b?c": "a%2Fb%3Fc"} {
			answer, err := hear(t, at(t, server.URL+base), llm.Request{Model: "gemini/" + model, Messages: []llm.Message{llm.User("hi")}})
			if err != nil || answer.Message("").Text() != "Hi" || answer.Stop != llm.StopEnd {
				t.Fatalf("%v %+v", err, answer)
			}
			r := <-asked
			if want := path + "/models/" + segment + ":streamGenerateContent?alt=sse"; r.RequestURI != want || r.Header.Get("X-Goog-Api-Key") != key {
				t.Errorf("base %q: %s, want %s; %v", base, r.RequestURI, want, r.Header)
			}
		}
	}
}

// TestNoStream: what a proxy sends that does not honour alt=sse is an answer where it is
// whole, and else says what it is.
func TestNoStream(t *testing.T) {
	const overloaded = `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`
	for _, c := range []struct {
		kind, body string
		want       failure.Kind
	}{
		{"application/json", list(parts(`{"text":"Hi"}`), finish("STOP")), ""}, // a whole answer all the same
		{"text/event-stream", list(parts(`{"text":"Hi"}`), finish("STOP")), ""},
		{"application/json", list(parts(`{"text":"Hi"}`)), failure.KindMalformedResponse},
		{"application/json", overloaded, failure.KindOverloaded},
		{"text/event-stream", overloaded, failure.KindOverloaded},
		{"text/event-stream", "data: " + parts(`{"functionCall":{"name":"f"}}`) + "\n", failure.KindStreamInterrupted},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, _ = io.WriteString(w, c.body)
		}))
		_, err := hear(t, at(t, server.URL), llm.Request{Model: "gemini/m", Messages: []llm.Message{llm.User("hi")}})
		server.Close()
		if f, ok := failure.AsFailure(err); c.want == "" && err != nil || c.want != "" && (!ok || f.Kind != c.want) {
			t.Errorf("%s %s: %v, want %s", c.kind, c.body, err, c.want)
		}
	}
}

func TestMissingKey(t *testing.T) {
	m, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = hear(t, m, llm.Request{Model: "gemini/m", Messages: []llm.Message{llm.User("hi")}})
	if f, ok := failure.AsFailure(err); !ok || f.Kind != failure.KindAuth || !strings.Contains(f.Detail, "GEMINI_API_KEY") || m.Loopback() {
		t.Errorf("%v", err)
	}
}
