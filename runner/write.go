package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// write makes bodies into events, appends them in one durable step and applies
// them.
func (l *loop) write(ctx context.Context, bodies ...recovery.Body) error {
	return l.writeAnswering(ctx, 0, bodies...)
}

// writeAnswering is write for the command at position inbox.
func (l *loop) writeAnswering(ctx context.Context, inbox uint64, bodies ...recovery.Body) error {
	bodies = l.withTail(bodies)
	if !concluded(bodies[0]) && l.run.End == nil {
		if slept, ok := l.clock.news(); ok {
			bodies = append([]recovery.Body{slept}, bodies...)
		}
	}
	now := l.clock.now()
	if now.Before(l.run.Last) {
		now = l.run.Last // a log's times never go back
	}
	events := l.events(now, inbox, bodies...)
	paused, err := l.append(ctx, l.run.Seq, events)
	if err != nil {
		return err
	}
	return l.written(ctx, events, paused)
}

// written applies events, which are durable; paused is what the log is to be told of that.
func (l *loop) written(ctx context.Context, events []recovery.Event, paused *recovery.Paused) error {
	if err := l.stillOwns(ctx); err != nil {
		return err
	}
	spent := l.run.Spent
	for _, e := range events {
		if err := l.run.Apply(e); err != nil {
			return err
		}
		l.learn(e)
		l.observe(e)
	}
	l.count(l.run.Spent.Minus(spent))
	l.saveSnapshot(ctx)
	if paused != nil && l.run.End == nil {
		return l.write(ctx, *paused)
	}
	return nil
}

// events makes bodies into what comes next in the log.
func (l *loop) events(now time.Time, inbox uint64, bodies ...recovery.Body) []recovery.Event {
	events := make([]recovery.Event, 0, len(bodies))
	for _, b := range bodies {
		if failed, ok := b.(recovery.Failed); ok {
			b = l.withFacts(failed, now)
		}
		b = l.r.hide(b)
		events = append(events, recovery.Event{
			Run: l.id, Seq: l.run.Seq + uint64(len(events)) + 1, Time: now, Text: recovery.Line(l.run, b), Inbox: inbox, Body: b,
		})
	}
	return events
}

// concluded reports whether b follows from what the log says so far: nothing may come
// between.
func concluded(b recovery.Body) bool {
	switch b.(type) {
	case recovery.Began, recovery.ToolBegan, recovery.Compacting, recovery.Waiting, recovery.Decided, recovery.Suggested, recovery.Ended:
		return true
	}
	return false
}

// errAsleep says that an effect did not begin, since the computer slept after it was
// wanted: the run's time may be over by now.
var errAsleep = errors.New("the computer slept before it began")

// awake looks, right before something that was concluded is written, whether the computer
// slept since.
func (l *loop) awake(ctx context.Context) error {
	slept, ok := l.clock.news()
	if !ok {
		return nil
	}
	if err := l.write(ctx, slept); err != nil {
		return err
	}
	return errAsleep
}

// append writes events durably. A write that failed, or only seemed to, is
// repeated: a log takes the same events at the same place once.
func (l *loop) append(ctx context.Context, after uint64, events []recovery.Event) (*recovery.Paused, error) {
	paused, err := l.persist(ctx, func(ctx context.Context) error {
		return l.r.log.Append(ctx, l.lease, after, events...)
	})
	if err != nil {
		return nil, fmt.Errorf("run %s stops before event %d, which could not be written: %w", l.id, after+1, err)
	}
	return paused, nil
}

// withTail puts the last text of an attempt before the event that fails it from
// outside: an expired clock or a cancel.
func (l *loop) withTail(bodies []recovery.Body) []recovery.Body {
	var ends bool
	switch b := bodies[0].(type) {
	case recovery.Failed:
		ends = b.Attempt != 0
	case recovery.CancelRequested:
		ends = true
	}
	if !ends {
		return bodies
	}
	for key, j := range l.air {
		if j.attempt != nil {
			if tail, ok := l.breakOff(key, j); ok {
				return append([]recovery.Body{tail}, bodies...)
			}
		}
	}
	return bodies
}

// withFacts completes a failure by what a decision may depend on.
func (l *loop) withFacts(f recovery.Failed, now time.Time) recovery.Failed {
	model := l.run.Model
	if f.Failure.Model != "" && f.Failure.Origin == failure.OriginModel {
		model = f.Failure.Model
	}
	for _, name := range l.run.Policy.Models {
		if name == model || !l.r.models.Has(name) {
			continue
		}
		if c, cooling := l.r.health.Cooling(name, now); cooling {
			f.Cooling = append(f.Cooling, c)
			continue
		}
		f.Alternatives = append(f.Alternatives, recovery.Alternative{Model: name, ContextTokens: l.r.models.ContextTokens(name)})
	}
	if len(f.Alternatives) == 0 && f.Failure.Kind == failure.KindQuota {
		return l.besideQuota(f, model)
	}
	return f
}

// besideQuota has one model of the entry of model asked, where there is nothing else: a quota
// cools the whole entry, and may be that of the one model all the same. Who has named a
// quota of its own is not asked, and it is once in a call: a second one says that it is the entry's.
func (l *loop) besideQuota(f recovery.Failed, model string) recovery.Failed {
	entry, _, _ := strings.Cut(model, "/")
	ofEntry := func(name string) bool { return name != model && strings.HasPrefix(name, entry+"/") }
	if slices.ContainsFunc(l.run.Call.Tried, func(t recovery.Tried) bool { return ofEntry(t.Model) }) {
		return f
	}
	i := slices.IndexFunc(f.Cooling, func(c recovery.Cooldown) bool { return c.Kind == failure.KindQuota && c.Beside && ofEntry(c.Model) })
	if i >= 0 {
		name := f.Cooling[i].Model
		f.Cooling = slices.Delete(f.Cooling, i, i+1)
		f.Alternatives = []recovery.Alternative{{Model: name, ContextTokens: l.r.models.ContextTokens(name)}}
	}
	return f
}

// learn tells health what an event says about a model.
func (l *loop) learn(e recovery.Event) {
	if b, ok := e.Body.(recovery.Answered); ok {
		l.errands.add(func() { l.r.health.Succeeded(b.Message.Model) })
	}
}
