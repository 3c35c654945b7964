package autorecover

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// delay is the pause before retry number n of a model, counted from 0. jitter is drawn
// from [0, 1).
func (c Config) delay(n int, jitter float64) time.Duration {
	if len(c.Delays) == 0 {
		return 0
	}
	base := c.Delays[min(max(n, 0), len(c.Delays)-1)]
	return base + time.Duration(float64(base)*c.Jitter*jitter)
}

// asked is how long the provider asks to be left alone; 0 if it did not say.
func asked(f failure.Failure, now time.Time) time.Duration {
	wait := max(0, f.RetryAfter.Duration())
	if !f.ResetsAt.IsZero() {
		wait = max(wait, f.ResetsAt.Sub(now))
	}
	return wait
}

// bounded is d within a vote's limits. The runner itself waits longer if the provider
// demands it.
func bounded(d time.Duration) failure.Millis {
	return min(max(0, failure.InMillis(min(d, failure.MaxDelay.Duration()))), failure.MaxDelay)
}
