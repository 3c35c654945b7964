package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/timeline"
)

// troubled is a core that begins no run.
type troubled struct {
	*written
	why error
}

func (r troubled) Start(context.Context, gateway.Start) (string, error) { return "", r.why }

// brokenLog is a store that does not answer.
type brokenLog struct {
	timeline.Log
	why error
}

func (l brokenLog) List(context.Context, timeline.Query) ([]timeline.Summary, error) {
	return nil, l.why
}

// TestUnavailableSaysWhenToAskAgain: whatever the gateway cannot do now may be asked for again
// soon, and the answer says so, as does the document.
func TestUnavailableSaysWhenToAskAgain(t *testing.T) {
	for name, why := range map[string]error{"closing": timeline.ErrClosed, "slow": context.DeadlineExceeded, "given up": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			w := newWritten()
			api := gateway.New(gateway.Config{Runs: troubled{w, why}, Log: brokenLog{w.log, why}, CheckModel: checkModel})
			guard, err := gateway.NewGuard(gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return true, nil }}, api, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []http.Handler{api, guard} {
				for _, asked := range []struct{ method, path, body string }{
					{"POST", "/v1/runs", `{"prompt":"hi"}`}, {"GET", "/v1/runs", ""}, {"GET", "/readyz", ""},
				} {
					r := httptest.NewRequestWithContext(t.Context(), asked.method, asked.path, strings.NewReader(asked.body))
					r.Host = "localhost"
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Authorization", "Bearer x")
					said := httptest.NewRecorder()
					h.ServeHTTP(said, r)
					if said.Code != http.StatusServiceUnavailable || said.Header().Get("Retry-After") != "1" {
						t.Errorf("%s %s: %d, Retry-After %q: %s", asked.method, asked.path, said.Code, said.Header().Get("Retry-After"), said.Body)
					}
				}
			}
		})
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Headers map[string]any }
		}
	}
	if code := call(t, "GET", serve(t, newWritten()).URL+"/openapi.json", "", nil, &doc); code != http.StatusOK {
		t.Fatal(code)
	}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if op.Responses["503"].Headers["Retry-After"] == nil {
				t.Errorf("the document has no Retry-After for %s %s", method, path)
			}
		}
	}
}
