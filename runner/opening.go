package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxOpening is the most events in the opening of a run: started, claimed, began.
const maxOpening = 3

// open begins a new run, claims it and, if no gate holds it, writes the intent of its first call,
// all in one durable step, so that the call begins as soon as possible.
func (l *loop) open(ctx context.Context, started recovery.Started) error {
	now, first := l.clock.now(), timeline.Lease{Owner: l.r.owner, Epoch: 1}
	events := make([]recovery.Event, 0, maxOpening)
	events = append(events, l.event(now, 0, 0, started), l.event(now, 0, 1, l.claimed(first)))
	if l.foresee(events); l.opening.Call != nil {
		events = append(events, l.event(now, 0, 0, l.opening.Call.Intent))
	}
	paused, err := l.persist(ctx, func(ctx context.Context) error {
		lease, err := l.r.log.Begin(ctx, l.id, l.r.owner, l.r.leaseTTL, func(by timeline.Lease) []recovery.Event {
			if by.Owner != first.Owner || by.Epoch != first.Epoch { // another process has claimed it before it began
				first, events = by, slices.Clone(events)
				events[1].Body = l.claimed(by)
				l.run = &recovery.Run{} // what is written is not what was foreseen
			}
			return events
		})
		if err == nil {
			l.hold(lease)
		}
		return err
	})
	if err != nil {
		l.run = &recovery.Run{}
		return fmt.Errorf("run %s was not started, because its first events could not be written: %w", l.id, err)
	}
	return l.written(ctx, events, paused)
}

// foresee folds the first events of a run before they are written, and finds its first call. There
// is none if a gate holds it; it is then left to the loop.
func (l *loop) foresee(events []recovery.Event) {
	for _, e := range events {
		if err := l.run.Apply(e); err != nil {
			l.run = &recovery.Run{}
			return // the caller learns of it when the events are written
		}
	}
	if l.handsOver(l.run) {
		return
	}
	l.run.Carry(l.before)
	effects := recovery.Next(l.run)
	if len(effects) > 0 && effects[0].Call != nil && l.held(l.run, effects[0]).why == "" {
		l.opening = effects[0]
	}
}

// callFirst prepares the first call of a run if its opening has the call's intent, so that the call
// need not wait for the loop; nil if there is none.
func (l *loop) callFirst() (model string, run func()) {
	first := l.opening
	if l.opening = (recovery.Effect{}); first.Call == nil {
		return "", nil
	}
	return first.Call.Intent.Model, l.prepare(l.work, first.Key, first.Call)
}
