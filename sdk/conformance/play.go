package conformance

import (
	"context"
	"errors"
	"time"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// Play asks a conformance plugin what the talk asks, and says what is wrong with the
// answers.
func (p *Plugin) Play(ctx context.Context, t Talk) error {
	calls := max(t.Times, 1)
	wrong := make(chan error, calls)
	for n := range calls {
		go func() { wrong <- p.call(ctx, t, n) }()
	}
	var errs []error
	for range calls {
		errs = append(errs, <-wrong)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.listen(ctx, t)
}

func (p *Plugin) call(ctx context.Context, t Talk, n int) error {
	reply, err := p.ask(ctx, t, n)
	if invalid := (*unaskable)(nil); errors.As(err, &invalid) {
		return err
	}
	return t.judge(n, reply, err)
}

// unaskable is a talk whose question is none.
type unaskable struct{ err error }

func (u *unaskable) Error() string { return "the talk: " + u.err.Error() }

func (p *Plugin) ask(ctx context.Context, t Talk, n int) (*mulliganv1.RunErrorResponse, error) {
	deadline := time.Duration(t.Deadline) * time.Millisecond
	if deadline == 0 {
		deadline = slack * 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	request, err := t.request(n)
	if err != nil {
		return nil, &unaskable{err}
	}
	return p.service.RunError(ctx, request)
}

// listen waits for what must be said on standard error, since that arrives on its
// own way.
func (p *Plugin) listen(ctx context.Context, t Talk) error {
	ctx, cancel := context.WithTimeout(ctx, slack*2*time.Second)
	defer cancel()
	for {
		err := t.heard(p.stderr())
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
