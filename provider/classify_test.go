package provider_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/provider"
)

// A table of somebody's own rows decides on every wire, before an answer and in the middle of
// one, and another table from the next failure on.
func TestClassifier(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			lab := faultlab.New()
			server, err := lab.Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = lab.Close(), server.Close() })
			var table atomic.Pointer[failure.Local]
			by := func(e failure.Evidence) *failure.Failure { return table.Load().Classify(e) }
			s, err := provider.New([]provider.Entry{{Name: wire, Type: wire, BaseURL: server.URL() + version(wire), Key: key}}, provider.WithClassifier(by))
			if err != nil {
				t.Fatal(err)
			}
			limited, cut := faultlab.RateLimited(time.Second), faultlab.CutAfter("some text")
			lab.Script("m", limited, limited, cut)
			_, err = hear(t.Context(), t, s, ask(wire))
			if f := failureOf(t, err); f.Kind != failure.KindRateLimit {
				t.Fatalf("without a table it is %s", f.Kind)
			}
			rows := []failure.LocalRow{
				{Kind: failure.KindBilling, Provider: wire, Status: 429},
				{Kind: failure.KindOverloaded, Provider: wire, Pattern: "(?i)EOF|reset|closed"},
			}
			l, err := failure.NewLocal(rows)
			if err != nil {
				t.Fatal(err)
			}
			table.Store(l)
			for _, want := range []failure.Kind{failure.KindBilling, failure.KindOverloaded} {
				_, err := hear(t.Context(), t, s, ask(wire))
				if f := failureOf(t, err); f.Kind != want {
					t.Errorf("it is %s (%s), want %s", f.Kind, f.Detail, want)
				}
			}
		})
	}
}

func TestClassifierOfATransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer server.Close()
	l, err := failure.NewLocal([]failure.LocalRow{{Kind: failure.KindQuota, Provider: "openai", Status: http.StatusTeapot}})
	if err != nil {
		t.Fatal(err)
	}
	transport, err := provider.NewTransport(provider.TransportConfig{Type: "openai", Classify: l.Classify})
	if err != nil {
		t.Fatal(err)
	}
	ctx, call := provider.Watch(t.Context())
	response, err := post(ctx, t, &http.Client{Transport: transport}, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	if f := failureOf(t, call.Err(nil)); f.Kind != failure.KindQuota {
		t.Errorf("it is %s", f.Kind)
	}
}

func failureOf(t *testing.T, err error) *failure.Failure {
	t.Helper()
	f, ok := failure.AsFailure(err)
	if !ok {
		t.Fatalf("no failure: %v", err)
	}
	return f
}
