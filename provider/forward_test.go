package provider_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
)

// TestForward: a request to another path of an API is forwarded unchanged, with the entry's own
// credential in place of the caller's, and its answer does not contain a key of ours.
func TestForward(t *testing.T) {
	paths := map[string]string{
		provider.TypeAnthropic: "/v1/messages/count_tokens", provider.TypeOpenAI: "/v1/files/file%3A1",
		provider.TypeResponses: "/v1/responses/resp_1", provider.TypeGemini: "/upload/v1beta/files",
	}
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.URL.EscapedPath() != paths[wire] || r.URL.RawQuery != "beta=true&alt=media" || r.Method != http.MethodDelete || string(body) != "a body" {
					t.Errorf("%s %s %q", r.Method, r.URL, body)
				}
				credentials := 0
				for name, values := range r.Header {
					all := strings.Join(values, " ")
					if strings.Contains(all, "stolen") {
						t.Errorf("S36: %s: %s", name, all)
					}
					credentials += strings.Count(all, key)
				}
				if credentials != 1 || r.Header.Get("Anthropic-Beta") != "a" {
					t.Errorf("%v", r.Header)
				}
				w.Header().Set("X-Said", "you sent "+key)
				w.WriteHeader(http.StatusTeapot)
				_, _ = io.WriteString(w, "the key is "+key[:5])
				_ = http.NewResponseController(w).Flush()
				_, _ = io.WriteString(w, key[5:]+", and so on")
			}))
			defer server.Close()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, paths[wire]+"?beta=true&key=stolen&alt=media&Api_Key=stolen", strings.NewReader("a body"))
			for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization"} {
				r.Header.Set(name, "stolen")
			}
			r.Header.Set("Anthropic-Beta", "a")
			answer, err := set(t, server.URL).Forward(wire, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusTeapot || string(body) != "the key is [redacted], and so on" || strings.Contains(answer.Header.Get("X-Said"), key) {
				t.Errorf("%v %+v %s", err, answer, body)
			}
		})
	}
}

// TestForwardFails: what goes wrong is a failure, and a redirect is one.
func TestForwardFails(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/", http.StatusFound))
	entries := set(t, server.URL)
	ask := func(entry string) failure.Kind {
		answer, err := entries.Forward(entry, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/models", http.NoBody), nil)
		if err == nil {
			answer.Body.Close()
		}
		f, _ := failure.AsFailure(err)
		if f == nil {
			return ""
		}
		return f.Kind
	}
	if kind := ask(provider.TypeOpenAI); kind != failure.KindMisconfigured {
		t.Errorf("a redirect: %q", kind)
	}
	server.Close()
	if kind := ask(provider.TypeOpenAI); kind != failure.KindUnreachable {
		t.Errorf("nobody there: %q", kind)
	}
	if kind := ask("nobody"); kind != failure.KindPromptFailure {
		t.Errorf("no such entry: %q", kind)
	}
}
