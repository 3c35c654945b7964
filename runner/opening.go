package runner

import (
	"context"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxOpening is how many events the opening of a run has, at most: started, claimed, began.
const maxOpening = 3

// open begins a new run, claims it and, if no gate holds it, writes the intent of its first call,
// all in one durable step, so that the call begins as soon as possible.
func (l *loop) open(ctx context.Context, started recovery.Started) error {
	now := l.clock.now()
	first := func(by timeline.Lease, more ...recovery.Body) []recovery.Event {
		return l.events(now, 0, append([]recovery.Body{started, l.claimed(by)}, more...)...)
	}
	intent := l.foresee(first(timeline.Lease{Owner: l.r.owner, Epoch: 1}))
	paused, err := l.persist(ctx, func(ctx context.Context) error {
		lease, err := l.r.log.Begin(ctx, l.id, l.r.owner, l.r.leaseTTL, func(by timeline.Lease) []recovery.Event {
			return first(by, intent...)
		})
		if err == nil {
			l.hold(lease)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("run %s does not begin, which could not be written: %w", l.id, err)
	}
	return l.written(ctx, first(l.lease, intent...), paused)
}

// foresee gives the intent of the first call of a run that begins with events; none if a gate
// holds the call, which is then left to the loop.
func (l *loop) foresee(events []recovery.Event) []recovery.Body {
	run := &recovery.Run{}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return nil // the caller learns of it when the events are written
		}
	}
	run.Carry(l.before)
	effects := recovery.Next(run)
	if l.handsOver(run) || len(effects) == 0 || effects[0].Call == nil || l.held(run, effects[0]).why != "" {
		return nil
	}
	intent := effects[0].Call.Intent
	l.opened = intent.Attempt
	return []recovery.Body{intent}
}
