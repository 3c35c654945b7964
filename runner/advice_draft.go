package runner

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// adviceDraft collects what will be written of a run, for one durable step, since the caller waits.
// recovery.Next is called as in every loop, but only to see which plugins to ask and what to write.
type adviceDraft struct {
	loop   *loop // writes it
	draft  *loop // works on the run as it will be
	events []recovery.Event
	err    error
	about  hooks.Occasion // the last one asked about
}

func (l *loop) draft() *adviceDraft {
	return &adviceDraft{loop: l, draft: &loop{r: l.r, id: l.id, run: l.run.Clone(), clock: l.clock}}
}

func (d *adviceDraft) now() time.Time { return later(d.loop.clock.now(), d.draft.run.Last) }

// note adds events to the draft.
func (d *adviceDraft) note(at time.Time, bodies ...recovery.Body) {
	for _, b := range bodies {
		events := d.draft.events(later(at, d.draft.run.Last), 0, b)
		if d.err == nil {
			d.err = d.draft.run.Apply(events[0])
		}
		d.events = append(d.events, events...)
	}
}

// askAbout adds the attempt that failed, the earlier attempts that nobody asked about, and what to
// do about the failure.
func (d *adviceDraft) askAbout(ctx context.Context, q recovery.Question) {
	for n := d.draft.run.Call.Attempts; n < q.Attempt; n++ {
		t := recovery.TriedCall{Model: q.Model, Failure: *failure.NewFailure(failure.KindUnknown, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)}
		if n < len(q.Tried) {
			t = q.Tried[n]
		}
		d.tried(t)
	}
	now := d.now()
	began := d.draft.run.Made(q.Model)
	d.note(now, began)
	d.note(now, d.failed(began, q, now))
	d.conclude(ctx)
}

// tried adds an attempt that nobody asked about.
func (d *adviceDraft) tried(t recovery.TriedCall) {
	now := d.now()
	at := now
	if !t.At.IsZero() && t.At.Before(now) {
		at = t.At
	}
	began := d.draft.run.Made(t.Model)
	d.note(at, began)
	t.Failure.Model, t.Failure.Provider = began.Model, entryOf(began.Model)
	t.Failure.Elapsed = t.Duration
	t.Failure.Describe(failure.Words{})
	over := at.Add(t.Duration.Duration())
	if over.After(now) {
		over = now
	}
	d.note(over, recovery.Failed{Attempt: began.Attempt, Failure: t.Failure})
}

// failed is the failure in question, with the facts that a decision may depend on. Health gets the
// failure first, since it decides which other models may be asked.
func (d *adviceDraft) failed(b recovery.Began, q recovery.Question, now time.Time) recovery.Failed {
	f := recovery.Failed{Attempt: b.Attempt, Failure: d.classified(q.Evidence, b.Model, now), Told: q.Told}
	if q.Shown {
		f.Shown = recovery.ShownPart
	}
	r := d.loop.r
	for _, name := range q.Alternatives {
		if name == b.Model || slices.ContainsFunc(f.Alternatives, func(a recovery.Alternative) bool { return a.Model == name }) {
			continue
		}
		if c, cooling := r.health.Cooling(name, now); cooling {
			f.Cooling = append(f.Cooling, c)
			continue
		}
		f.Alternatives = append(f.Alternatives, recovery.Alternative{Model: name, ContextTokens: r.models.Capabilities(name).ContextTokens})
	}
	if len(f.Alternatives) == 0 && f.Failure.Kind == failure.KindQuota {
		f = d.draft.besideQuota(f, b.Model)
	}
	return f
}

// classified is the failure for a caller's evidence. Health gets it, too.
func (d *adviceDraft) classified(e failure.Evidence, model string, now time.Time) failure.Failure {
	r := d.loop.r
	e.Model, e.Provider, e.At = model, cmp.Or(e.Provider, entryOf(model)), now
	f := *r.classify(e)
	f.Model = cmp.Or(f.Model, model)
	f.Provider = cmp.Or(f.Provider, entryOf(model))
	if f.Origin == failure.OriginModel {
		r.recent.add(f.Model, f.Kind, now)
		r.tellHealth(func() { r.health.Failed(f.Model, f, now) })
	}
	return f
}

// conclude adds what recovery.Next says, and asks the plugins that it wants asked.
func (d *adviceDraft) conclude(ctx context.Context) {
	const most = 16 // events that may follow from one; there are four at present
	for range most {
		effects := recovery.Next(d.draft.run)
		if len(effects) == 0 || d.err != nil || ctx.Err() != nil {
			return
		}
		switch e := effects[0]; {
		case e.Record != nil:
			d.note(d.now(), e.Record)
		case e.Ask != nil:
			d.ask(ctx, e.Ask)
		default:
			return // the rest is up to the caller
		}
	}
}

func (d *adviceDraft) ask(ctx context.Context, a *recovery.AskPlugins) {
	d.about = d.loop.r.aboutModels(hooks.NewOccasion(d.draft.run), d.now())
	asked, missing := d.loop.r.named(a.Plugins, a.Occasion.Hook())
	for _, vote := range missing {
		d.note(d.now(), recovery.Voted{Occasion: a.Occasion, Vote: vote})
	}
	hooks.Dispatch(ctx, asked, d.about, d.loop.r.deadlines, func(v recovery.Vote) {
		d.note(d.now(), recovery.Voted{Occasion: a.Occasion, Vote: v})
	})
}

// end adds how the call went on, and the end of the run.
func (d *adviceDraft) end(rep recovery.Report) {
	now := d.now()
	began := d.draft.run.Made(rep.Model)
	d.note(now, began)
	if rep.Evidence == nil {
		d.note(now, recovery.Answered{
			Attempt: began.Attempt, Stop: llm.StopEnd, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{}, Model: began.Model},
		})
	} else {
		d.note(now, recovery.Failed{Attempt: began.Attempt, Failure: d.classified(*rep.Evidence, began.Model, now), Cause: recovery.CauseGivenUp})
	}
	d.conclude(context.Background())
}

// keepMore writes the draft after the events in the log.
func (d *adviceDraft) keepMore(ctx context.Context) (*recovery.Run, error) {
	return d.keep(ctx, func(ctx context.Context) error {
		return d.loop.r.log.Append(ctx, d.loop.lease, d.loop.run.Seq, d.events...)
	})
}

// keep writes the whole draft in one durable step and releases the run. If the caller has hung up
// by then, nothing is written, since it got no answer.
func (d *adviceDraft) keep(ctx context.Context, write func(context.Context) error) (*recovery.Run, error) {
	l := d.loop
	if err := cmp.Or(d.err, context.Cause(ctx)); err != nil {
		l.release()
		return nil, err
	}
	l.work = context.WithoutCancel(ctx)
	paused, err := l.persist(l.work, write)
	if err == nil {
		err = l.written(l.work, d.events, paused)
	}
	if err != nil {
		l.leave()
		return nil, err
	}
	l.r.busy.Go(func() {
		l.errands.done(tellGrace)
		d.askShadows()
		l.leave()
	})
	return d.draft.run, nil
}

// askShadows asks the hooks on trial after the caller has its answer, so that it does not wait for
// them.
func (d *adviceDraft) askShadows() {
	l := d.loop
	about := l.run.Open
	asked := slices.DeleteFunc(slices.Clone(l.r.hooks()), func(h hooks.Named) bool { return !h.Shadow || !h.Takes(recovery.HookRunError) })
	if d.about == nil || about == nil || l.run.End != nil || len(asked) == 0 {
		return
	}
	within := l.r.deadlines
	within.Each = shadowGrace
	hooks.Dispatch(l.work, asked, d.about, within, func(v recovery.Vote) {
		if err := l.write(l.work, recovery.Voted{Occasion: about.Occasion(), Vote: v}); err != nil {
			l.r.logger.Warn("a vote on trial was not written", "run", l.id, "err", err)
		}
	})
}

// tellHealth calls health, and waits a moment until that is done: its file may be locked by another
// process.
func (r *Runner) tellHealth(tell func()) {
	var e errands
	e.add(tell)
	e.done(tellGrace)
}

// said is the last answer before a call, as a conversation.
func said(text string) []llm.Message {
	if text == "" {
		return []llm.Message{}
	}
	return []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: text}}}}
}
