package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
)

// busyGuard is a guard before an API that takes its time for every request.
func busyGuard(t *testing.T, limits gateway.Limits, each time.Duration) (ask func(ctx context.Context, method string) *httptest.ResponseRecorder, most *atomic.Int64) {
	t.Helper()
	var now atomic.Int64
	most = &atomic.Int64{}
	api := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(each)
		now.Add(-1)
	})
	h, err := gateway.NewGuard(gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return true, nil }, Limits: limits}, api, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, method string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, method, "/v1/runs", nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer x")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}, most
}

// TestS12RequestsQueue: 150 requests at once are all served, never more at a time than the limit,
// and one that got no turn within 10 s is told to ask again in a second.
func TestS12RequestsQueue(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		synctest.Test(t, func(t *testing.T) {
			ask, most := busyGuard(t, gateway.Limits{}, 100*time.Millisecond)
			var all sync.WaitGroup
			for range 150 {
				all.Go(func() {
					if got := ask(t.Context(), method); got.Code != http.StatusOK {
						t.Errorf("%s: %d %s", method, got.Code, got.Body)
					}
				})
			}
			all.Wait()
			if n := most.Load(); n != 64 {
				t.Errorf("%d at a time", n)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			ask, _ := busyGuard(t, gateway.Limits{Writes: 1, Reads: 1}, time.Minute)
			go ask(t.Context(), method)
			synctest.Wait()
			began := time.Now()
			gone, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			ask(gone, method)
			if took := time.Since(began); took != time.Second {
				t.Errorf("who is gone waits for %v", took)
			}
			got := ask(t.Context(), method)
			if took := time.Since(began); took != 11*time.Second || got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "1" {
				t.Errorf("after %v: %d %v %s", took, got.Code, got.Header(), got.Body)
			}
			time.Sleep(time.Minute)
		})
	}
}
