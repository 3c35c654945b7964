package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	patience      = 30 * time.Second // with a gateway that is busy
	maxRetryAfter = 24 * 60 * 60     // in seconds: more is never meant
)

// patiently makes a request again while it is refused in a way that passes. It gives up after
// 30 s, when ctx ends, and where the gateway says that it takes longer, with the last refusal.
func patiently(ctx context.Context, passes func(*Problem) bool, request func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := request()
		p, ok := errors.AsType[*Problem](err)
		if !ok || !passes(p) {
			return err
		}
		wait := max(p.RetryAfter, time.Second)
		wait += rand.N(wait / 4) // not all who were refused at once come back at once
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

// isBusy reports whether a request was refused before anything of it was done.
func isBusy(p *Problem) bool { return p.Status == http.StatusTooManyRequests }

// isBusyOrDown is for a request that may have been done, and may be made twice all the same.
func isBusyOrDown(p *Problem) bool { return isBusy(p) || p.Status == http.StatusServiceUnavailable }

// passing reports whether a request that failed so may succeed later.
func passing(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return !ok || p.Status >= 500 || p.Status == http.StatusTooManyRequests
}

// pause waits before try n is made again: 0.25 s, doubling up to 10 s.
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
