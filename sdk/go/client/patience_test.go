package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// busy refuses so many requests, and keeps the idempotency keys of all.
type busy struct {
	code, refuse int
	after        string

	mu   sync.Mutex
	keys []string
}

func (b *busy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.keys = append(b.keys, r.Header.Get("Idempotency-Key"))
	n := len(b.keys)
	b.mu.Unlock()
	w.Header().Set("Retry-After", b.after)
	if n <= b.refuse {
		w.WriteHeader(b.code)
	}
	fmt.Fprintf(w, `{"id":"r1","status":%d,"detail":"busy"}`, b.code)
}

// TestABusyGatewayIsAskedAgain: a run is started under one idempotency key, however often it is
// asked for; what may have been done and has no key is not repeated.
func TestABusyGatewayIsAskedAgain(t *testing.T) {
	start := func(ctx context.Context, c *client.Client) error {
		_, err := c.Start(ctx, client.Start{Prompt: "x"})
		return err
	}
	cancel := func(ctx context.Context, c *client.Client) error { return c.Cancel(ctx, "r1") }
	for _, c := range []struct {
		name     string
		server   *busy
		ask      func(context.Context, *client.Client) error
		requests int
		fails    bool
	}{
		{"a start", &busy{code: 429, refuse: 2, after: "1"}, start, 3, false},
		{"a start, by a gateway that is too slow", &busy{code: 503, refuse: 1, after: "1"}, start, 2, false},
		{"a start, much later", &busy{code: 429, refuse: 2, after: "60"}, start, 1, true},
		{"a start that is wrong", &busy{code: 422, refuse: 2}, start, 1, true},
		{"a cancel", &busy{code: 429, refuse: 1, after: "1"}, cancel, 2, false},
		{"a cancel that may have been done", &busy{code: 503, refuse: 1, after: "1"}, cancel, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(c.server)
			defer s.Close()
			gateway, err := client.New(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.ask(t.Context(), gateway); (err != nil) != c.fails {
				t.Error(err)
			}
			if len(c.server.keys) != c.requests {
				t.Errorf("%d requests: %q", len(c.server.keys), c.server.keys)
			}
			for _, key := range c.server.keys {
				if key != c.server.keys[0] || key == "" && c.requests > 2 {
					t.Errorf("the keys are %q", c.server.keys)
				}
			}
		})
	}
}

// TestNobodyWaitsWhoIsGone: the retries end with the caller's context.
func TestNobodyWaitsWhoIsGone(t *testing.T) {
	s := httptest.NewServer(&busy{code: 429, refuse: 1000, after: "20"})
	defer s.Close()
	gateway, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := gateway.Start(ctx, client.Start{Prompt: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
