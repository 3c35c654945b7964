package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/proxy"
)

// TestTraced: what is let in is seen by whoever makes spans, by the part of its path that is the
// API's; strangers are not.
func TestTraced(t *testing.T) {
	var seen []string
	p, err := proxy.New(proxy.Config{
		Runs: slow{}, Routes: []proxy.Route{{Match: "nobody", Models: []string{"anthropic/$model"}}},
		Token: func([32]byte) (bool, error) { return true, nil },
		Traced: func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, r)
				seen = append(seen, r.Pattern)
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{
		"POST /v1/messages", "GET /v1/models/canary", "POST /v1beta/models/canary:countTokens", "GET /v1/files/canary", "GET /v1/canary/x", "DELETE /v1/responses/canary",
	} {
		method, path, _ := strings.Cut(ask, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}"))
		r.Host = "localhost"
		r.Header.Set("X-Api-Key", token)
		p.ServeHTTP(httptest.NewRecorder(), r)
		r.Host = "elsewhere.example"
		p.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := []string{"POST /v1/messages", "GET /v1/models/", "POST /v1beta/", "GET /v1/files/", "GET /v1/", "DELETE /v1/responses/"}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q", seen)
	}
}
