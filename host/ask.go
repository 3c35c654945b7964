package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	"github.com/mulligan-run/mulligan/recovery"
)

// How many calls a plugin handles at a time, and how many may wait.
const (
	maxInFlight = 16
	maxQueued   = 4096                   // many runs may fail at once; each waits no longer than its deadline
	retryRoom   = 100 * time.Millisecond // the time that must be left, beyond the backoff, to ask a restarted plugin again
)

var errBusy = fmt.Errorf("busy: %d calls in flight and %d waiting", maxInFlight, maxQueued)

// Start starts the plugin if it is not running, or joins a start under way, and waits for
// it. A start has its own limit of 10 s, which no question's deadline shortens. Start
// implements hooks.Starter. It does nothing for a service, which is not started here, and
// for a plugin that Advise would not ask anyway.
func (s *supervised) Start(ctx context.Context) error {
	s.mu.Lock()
	now := time.Now()
	if s.spec.Address != "" || s.peer != nil || s.disabled != nil || s.breaker.open(now) {
		s.mu.Unlock()
		return nil
	}
	begun, _, err := s.beginStart(now)
	s.mu.Unlock()
	if err != nil || begun == nil {
		return nil //nolint:nilerr // Advise reports it
	}
	_, err = begun.wait(ctx)
	if err != nil {
		s.record(ctx, err, 0)
	}
	return err
}

// Advise asks the plugin; it implements hooks.Hook. It returns soon after ctx or the
// plugin's own deadline ends, whatever the plugin does. If the plugin still has to be
// started, that time counts against the deadline, too.
func (s *supervised) Advise(ctx context.Context, about hooks.Occasion) (recovery.Vote, error) {
	deadline, transcript := s.terms()
	about = about.For(transcript)
	if deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, deadline)
		defer cancel()
	}
	select {
	case s.queue <- struct{}{}:
		defer func() { <-s.queue }()
	default:
		return recovery.Vote{}, errBusy
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return recovery.Vote{}, fmt.Errorf("busy: %w", ctx.Err())
	}
	if err := s.admit(); err != nil {
		return recovery.Vote{}, err
	}
	began := time.Now()
	vote, err := s.ask(ctx, about)
	s.record(ctx, err, time.Since(began))
	return vote, err
}

// terms returns the plugin's own deadline, and whether it may see the transcript.
func (s *supervised) terms() (deadline time.Duration, transcript bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spec.Deadline, s.spec.Transcript
}

// named returns the plugin in the form that a runner asks.
func (s *supervised) named() hooks.Named {
	s.mu.Lock()
	defer s.mu.Unlock()
	return hooks.Named{Name: s.name, Hook: s, Occasions: s.spec.Occasions, FailClosed: s.spec.FailClosed}
}

func (s *supervised) admit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disabled != nil {
		return s.disabled.err()
	}
	if s.breaker.allow(time.Now()) {
		return nil
	}
	left := time.Until(s.breaker.until).Round(time.Second)
	return fmt.Errorf("not asked for another %v after it failed: %s", max(0, left), s.lastError)
}

// record tells the breaker how a call went. A call whose caller gave up says nothing
// about the plugin.
func (s *supervised) record(ctx context.Context, err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed()
	switch {
	case err == nil:
		s.breaker.succeeded()
		s.latencies.add(took)
	case errors.Is(ctx.Err(), context.Canceled):
		s.breaker.abandoned()
	default:
		s.breaker.failed(time.Now())
		s.failed(err)
	}
}

// ask calls the plugin, and calls a fresh peer once more if the first one went away.
func (s *supervised) ask(ctx context.Context, about hooks.Occasion) (recovery.Vote, error) {
	p, err := s.begin(ctx)
	if err != nil {
		return recovery.Vote{}, err
	}
	vote, err := s.call(ctx, p, about)
	if !lostCall(err) || !s.roomForAnother(ctx) {
		return vote, err
	}
	again, startErr := s.begin(ctx)
	if startErr != nil {
		return vote, err // the first error says more
	}
	return s.call(ctx, again, about)
}

// begin returns a peer that accepts a call, so not one that is being replaced.
func (s *supervised) begin(ctx context.Context) (peer, error) {
	for {
		p, err := s.running(ctx)
		if err != nil || p.connected().calls.begin() {
			return p, err
		}
	}
}

// roomForAnother reports whether ctx leaves time for a restart and a call.
func (s *supervised) roomForAnother(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) >= s.restarts.policy.First+retryRoom
}

// call makes one call to p; begin has already counted it.
func (s *supervised) call(ctx context.Context, p peer, about hooks.Occasion) (recovery.Vote, error) {
	t := p.connected()
	defer t.calls.end()
	who := recovery.Vote{Version: t.version, PID: p.pid(), Hash: t.hash}
	answer, err := protoconv.Ask(ctx, t.service, about)
	if err != nil {
		if ctx.Err() != nil {
			go s.checkAlive(p)
			return who, fmt.Errorf("no answer in time: %w", ctx.Err())
		}
		if status.Code(err) == codes.DeadlineExceeded { // the plugin's side reports it, slightly early
			go s.checkAlive(p)
			return who, fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
		}
		return who, p.explain(err)
	}
	vote, err := answer()
	vote.Version, vote.PID, vote.Hash = who.Version, who.PID, who.Hash
	return vote, err
}

// checkAlive ends a peer that is connected but does not answer a ping.
func (s *supervised) checkAlive(p peer) {
	if err := p.connected().ping(s.life); err != nil && s.life.Err() == nil {
		s.logger.Warn("plugin does not answer a ping", append(whereabouts(p), "error", s.redact(err.Error()))...)
		p.end(errors.New("it did not answer a ping"))
	}
}
