package autorecover

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// delay is the pause before retry number n of a model, from 0. jitter is drawn
// from [0, 1).
func (c Config) delay(n int, jitter float64) time.Duration {
	if len(c.Delays) == 0 {
		return 0
	}
	base := c.Delays[min(max(n, 0), len(c.Delays)-1)]
	return base + time.Duration(float64(base)*c.Jitter*jitter)
}

// asked is how long the provider wants to be left alone; 0 where it did not say.
func asked(f failure.Failure, now time.Time) time.Duration {
	wait := max(0, f.RetryAfter.Duration())
	if !f.ResetsAt.IsZero() {
		wait = max(wait, f.ResetsAt.Sub(now))
	}
	return wait
}

// bounded is d as a vote may say it; the runner itself keeps to a provider's demand
// beyond that.
func bounded(d time.Duration) failure.Millis {
	return min(max(0, failure.InMillis(min(d, failure.MaxDelay.Duration()))), failure.MaxDelay)
}
