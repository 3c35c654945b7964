package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// write makes events of bodies, appends them in one durable step and applies them.
func (l *loop) write(ctx context.Context, bodies ...recovery.Body) error {
	return l.writeAnswering(ctx, 0, bodies...)
}

// writeAnswering is write, for the command at position inbox.
func (l *loop) writeAnswering(ctx context.Context, inbox uint64, bodies ...recovery.Body) error {
	bodies = l.withText(bodies)
	if !concluded(bodies[0]) && l.run.End == nil {
		if slept, ok := l.clock.news(); ok {
			bodies = append([]recovery.Body{slept}, bodies...)
		}
	}
	now := l.clock.now()
	if now.Before(l.run.Last) {
		now = l.run.Last // the times in a log never go back
	}
	events := l.events(now, inbox, bodies...)
	if a, answers := bodies[len(bodies)-1].(recovery.Answered); answers && l.mayEndWith(a) {
		events = l.withEnd(events)
	}
	paused, err := l.append(ctx, l.run.Seq, events)
	if err != nil {
		return err
	}
	return l.written(ctx, events, paused)
}

// written applies events, which are durable. paused is an event that the log should get about the
// writing of these.
func (l *loop) written(ctx context.Context, events []recovery.Event, paused *recovery.Paused) error {
	if err := l.stillOwns(ctx); err != nil {
		return err
	}
	spent := l.run.Spent
	for _, e := range events {
		if e.Seq > l.run.Seq { // the opening is folded before it is written
			if err := l.run.Apply(e); err != nil {
				return err
			}
		}
		l.learn(e)
		l.observe(e)
		if ends(e.Body) {
			l.tellEnd()
		}
	}
	l.count(l.run.Spent.Minus(spent))
	l.saveSnapshot(ctx)
	if paused != nil && l.run.End == nil {
		return l.write(ctx, *paused)
	}
	return nil
}

// events makes the log's next events from bodies.
func (l *loop) events(now time.Time, inbox uint64, bodies ...recovery.Body) []recovery.Event {
	events := make([]recovery.Event, 0, len(bodies)+1) // one more may follow from them
	for i, b := range bodies {
		events = append(events, l.event(now, inbox, i, b))
	}
	return events
}

// mayEndWith reports whether an answer may be the run's last: it asks for no tools, or its caller has
// them.
func (l *loop) mayEndWith(a recovery.Answered) bool {
	return len(a.Message.Calls()) == 0 || l.run.Policy.Tools == recovery.ToolsOfCaller
}

// withEnd adds the end of the run to events, if it is what follows from them and nothing holds it
// back, so that an answer and the end of its run are one durable step.
func (l *loop) withEnd(events []recovery.Event) []recovery.Event {
	if l.overNow() { // the cancel comes first
		return events
	}
	foreseen := l.run.Clone()
	for _, e := range events {
		if err := foreseen.Apply(e); err != nil {
			return events // the caller learns of it when they are written
		}
	}
	next := recovery.Next(foreseen)
	if len(next) != 1 || !ends(next[0].Record) {
		return events
	}
	follows := next[0].Record
	switch h := l.held(foreseen, next[0]); {
	case h.first != nil:
		follows = h.first // a gate says only once that the computer slept
	case h.why != "":
		return events
	}
	return append(events, l.eventAfter(foreseen, events[len(events)-1].Time, 0, 0, follows))
}

func ends(b recovery.Body) bool {
	_, ok := b.(recovery.Ended)
	return ok
}

// event makes an event of the log from b, that many events after the next one.
func (l *loop) event(now time.Time, inbox uint64, later int, b recovery.Body) recovery.Event {
	return l.eventAfter(l.run, now, inbox, later, b)
}

// eventAfter is event for the run as it will be when b is written.
func (l *loop) eventAfter(run *recovery.Run, now time.Time, inbox uint64, later int, b recovery.Body) recovery.Event {
	if failed, ok := b.(recovery.Failed); ok && l.run.Policy.Calls != recovery.CallsOfCaller { // the caller knows its own calls
		b = l.withFacts(failed, now)
	}
	b = l.figures(l.r.hide(b))
	return recovery.Event{Run: l.id, Seq: run.Seq + uint64(later) + 1, Time: now, Text: recovery.Line(run, b), Inbox: inbox, Body: b}
}

// concluded reports whether b follows from what the log says so far, so that nothing may come in
// between.
func concluded(b recovery.Body) bool {
	switch b.(type) {
	case recovery.Began, recovery.ToolBegan, recovery.Compacting, recovery.Waiting, recovery.Decided, recovery.Suggested, recovery.Ended:
		return true
	}
	return false
}

// append writes events durably. A write that failed, or seemed to, is repeated: a log accepts the
// same events only once at the same position.
func (l *loop) append(ctx context.Context, after uint64, events []recovery.Event) (*recovery.Paused, error) {
	paused, err := l.persist(ctx, func(ctx context.Context) error {
		return l.r.log.Append(ctx, l.lease, after, events...)
	})
	if err != nil {
		return nil, fmt.Errorf("run %s stops before event %d, which could not be written: %w", l.id, after+1, err)
	}
	return paused, nil
}

// withFacts adds to a failure the facts that a decision may depend on.
func (l *loop) withFacts(f recovery.Failed, now time.Time) recovery.Failed {
	if f.Attempt != 0 && l.call != nil {
		f.Shown = l.call.Caller.Shown(f.Attempt)
	}
	if f.Attempt != 0 {
		f = l.continuable(f)
	}
	model := l.run.Model
	if f.Failure.Model != "" && f.Failure.Origin == failure.OriginModel {
		model = f.Failure.Model
	}
	other := l.others(model, now)
	f.Alternatives, f.Cooling, f.Unfit = append(f.Alternatives, other.Alternatives...), append(f.Cooling, other.Cooling...), append(f.Unfit, other.Unfit...)
	if len(f.Alternatives) == 0 && f.Failure.Kind == failure.KindQuota {
		f = l.besideQuota(f, model)
	}
	if f.Failure.Origin == failure.OriginModel {
		f.TellUnfit()
	}
	return f
}

// others are the run's models besides that one: those that can be asked now, those that are cooling
// down and those that are unfit.
func (l *loop) others(model string, now time.Time) (f recovery.Failed) {
	needs := l.needs()
	for _, name := range l.run.Policy.Models {
		if name == model || !l.r.models.Has(name) {
			continue
		}
		able := l.r.models.Capabilities(name)
		if lacks := able.Lacks(needs); lacks != "" {
			f.Unfit = append(f.Unfit, recovery.Unfit{Model: name, Lacks: lacks})
			continue
		}
		if c, cooling := l.r.health.Cooling(name, now); cooling {
			f.Cooling = append(f.Cooling, c)
			continue
		}
		f.Alternatives = append(f.Alternatives, recovery.Alternative{Model: name, ContextTokens: able.ContextTokens})
	}
	return f
}

// needs is what the conversation uses that some models do not accept.
func (l *loop) needs() llm.Needs {
	if l.call != nil {
		return l.call.Request.Needs()
	}
	asked := llm.Request{System: l.run.System, Messages: l.run.Messages}
	l.run.Shape(&asked)
	for _, t := range l.run.Tools {
		asked.Tools = append(asked.Tools, t.Tool)
	}
	return asked.Needs()
}

// besideQuota allows one other model of model's entry if there is nothing else: a quota makes the
// whole entry cool down, but may be that of one model only. It does so once per call, since a
// second quota shows that it is the entry's, and never with a model that itself failed with a
// quota.
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
		f.Alternatives = []recovery.Alternative{{Model: name, ContextTokens: l.r.models.Capabilities(name).ContextTokens}}
	}
	return f
}

// learn tells health what an event says about a model.
func (l *loop) learn(e recovery.Event) {
	if b, ok := e.Body.(recovery.Answered); ok {
		model := b.Message.Model
		l.r.recent.add(model, "", e.Time)
		if well, ok := l.r.health.(Troubled); !ok || well.Troubled(model, l.clock.real()) {
			l.errands.add(func() { l.r.health.Succeeded(model) })
		}
		l.learnStay(b)
	}
}
