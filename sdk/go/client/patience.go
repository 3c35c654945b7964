package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	patience      = 30 * time.Second // for a busy gateway
	maxRetryAfter = 24 * 60 * 60     // in seconds; a longer one is a mistake
)

// patiently retries a request while passes says that its refusal is temporary. It gives up,
// with the last refusal, after 30 s, when ctx ends, or if the gateway asks for a longer wait.
func patiently(ctx context.Context, passes func(*Problem) bool, request func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := request()
		p, ok := errors.AsType[*Problem](err)
		if !ok || !passes(p) {
			return err
		}
		wait := max(p.RetryAfter, time.Second)
		wait += rand.N(wait / 4) // so that clients refused together do not return together
		if time.Now().Add(wait).After(deadline) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// isBusy reports whether a request was refused before it had any effect.
func isBusy(p *Problem) bool { return p.Status == http.StatusTooManyRequests }

// isBusyOrDown is for a request that may have had an effect, but is safe to repeat.
func isBusyOrDown(p *Problem) bool { return isBusy(p) || p.Status == http.StatusServiceUnavailable }

// passing reports whether a failed request may succeed later.
func passing(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return !ok || p.Status >= 500 || p.Status == http.StatusTooManyRequests
}

// pause waits before retry n: 0.25 s, doubling up to 10 s.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(min(250*time.Millisecond<<min(n, 6), 10*time.Second))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
