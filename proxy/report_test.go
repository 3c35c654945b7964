package proxy

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// TestRetryAfter: a caller hears when it is worth asking again, however the provider said it.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for want, f := range map[string]failure.Failure{
		"":     {},
		"3":    {RetryAfter: 2500},
		"7":    {RetryAfter: 7000, ResetsAt: now.Add(time.Hour)},
		"3600": {ResetsAt: now.Add(time.Hour)},
	} {
		if got := retryAfter(&f, now); got != want {
			t.Errorf("%+v: %q, and not %q", f, got, want)
		}
	}
	past := failure.Failure{ResetsAt: now.Add(-time.Hour)}
	if got := retryAfter(&past, now); got != "" {
		t.Errorf("a time that is over: %q", got)
	}
}
