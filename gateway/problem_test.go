package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// late is a gateway.Runs whose store does not write in time.
type late struct{ *written }

func (late) Start(context.Context, gateway.Start) (string, error) {
	return "", fmt.Errorf("run r1 stops before event 1: %w", context.DeadlineExceeded)
}

// TestTooLateIsTriedAgain: who begins a run while too much goes on is told to try again.
func TestTooLateIsTriedAgain(t *testing.T) {
	w := newWritten()
	g := gateway.New(gateway.Config{Runs: late{w}, Log: w.log, Version: "test"})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/runs", strings.NewReader(`{"prompt":"hi"}`))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	g.ServeHTTP(answer, r)
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "try again in a moment") {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}
