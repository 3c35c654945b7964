package runner

import (
	"context"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxOpening is how many events a run begins with at the most: started, claimed, began.
const maxOpening = 3

// open writes the beginning of a run that nobody has heard of, claims it, and writes the
// intent of its first call if nothing stands in the way of that: all in one durable step,
// so that the call begins as soon as can be.
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

// foresee gives the intent of the first call of a run that begins with events. There is
// none where something holds the call: then the loop sees to it as to any other.
func (l *loop) foresee(events []recovery.Event) []recovery.Body {
	run := &recovery.Run{}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return nil // who writes them is told
		}
	}
	run.Carry(l.before)
	effects := recovery.Next(run)
	if l.handsOver() || len(effects) == 0 || effects[0].Call == nil || l.held(run, effects[0]).why != "" {
		return nil
	}
	intent := effects[0].Call.Intent
	l.opened = intent.Attempt
	return []recovery.Body{intent}
}
