package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// How often to try if another process has the run, and how many runs one call may have under one
// name.
const (
	adviceTries = 40
	mostCalls   = 16
	advicePause = 50 * time.Millisecond
	oldest      = 48 * time.Hour // how long ago an attempt of a call may have been made
)

// Advise says what to do about a failed call. The same plugins are asked as by every run, under the
// same limits, and what they say is durable before it is returned. The run that it returns has the
// failure, the votes and the decision in its Open, and the suggestion if a person should be asked.
// Advise calls no model: the caller does that, and reports it with Settle or by asking about the
// next attempt.
func (r *Runner) Advise(ctx context.Context, q recovery.Question) (*recovery.Run, error) {
	return r.advising(ctx, q.Call, func() (*recovery.Run, error) { return r.advise(ctx, q) })
}

// Settle ends a call that Advise was asked about, and returns its run. If Advise was never asked
// about it, the error is timeline.ErrNotFound.
func (r *Runner) Settle(ctx context.Context, rep recovery.Report) (*recovery.Run, error) {
	if rep.Evidence == nil && rep.Model != "" {
		r.recent.add(rep.Model, "", time.Now())
		r.tellHealth(func() { r.health.Succeeded(rep.Model) })
	}
	return r.advising(ctx, rep.Call, func() (*recovery.Run, error) { return r.settleCall(ctx, rep) })
}

// advising calls do, and again while another process has the run of the call, adviceTries times at
// most.
func (r *Runner) advising(ctx context.Context, call string, do func() (*recovery.Run, error)) (*recovery.Run, error) {
	defer r.beginning.lock(adviceID(call, 0))()
	for tries := 1; ; tries++ {
		run, err := do()
		passes := errors.Is(err, timeline.ErrOwned) || errors.Is(err, timeline.ErrStale) || errors.Is(err, timeline.ErrConflict)
		if !passes || tries == adviceTries || ctx.Err() != nil {
			return run, err
		}
		idle(ctx, advicePause)
	}
}

// adviceID is the id of a call's run; n counts its runs, because a call may continue after its run
// has ended.
func adviceID(call string, n int) string {
	sum := sha256.Sum256([]byte(call + "\x00" + strconv.Itoa(n)))
	return "a" + hex.EncodeToString(sum[:16])
}

func (r *Runner) advise(ctx context.Context, q recovery.Question) (*recovery.Run, error) {
	for n := range mostCalls {
		id := adviceID(q.Call, n)
		events, err := r.log.Read(ctx, id, 0, 0)
		switch {
		case errors.Is(err, timeline.ErrNotFound):
			return r.beginAdvice(ctx, id, q)
		case err != nil:
			return nil, fmt.Errorf("advice: %w", err)
		}
		run, over, err := given(events, q.Attempt)
		if run != nil || err != nil {
			return run, err
		}
		if !over {
			return r.goOnAdvising(ctx, id, q)
		}
	}
	return nil, fmt.Errorf("advice: this call has ended %d times: give the next one another name", mostCalls)
}

// given is a call's run as it was when advice on that attempt was decided; nil if it was not. over
// says that the run has ended.
func given(events []recovery.Event, attempt int) (then *recovery.Run, over bool, err error) {
	run := &recovery.Run{}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return nil, false, err
		}
		if o := run.Open; o != nil && o.Attempt == attempt && o.Decision != nil && (then == nil || then.Open.Seq == o.Seq) {
			then = run.Clone()
		}
	}
	return then, run.End != nil, nil
}

// beginAdvice begins the run of a call.
func (r *Runner) beginAdvice(ctx context.Context, id string, q recovery.Question) (*recovery.Run, error) {
	l := r.newLoop(&recovery.Run{}, id, timeline.Lease{})
	l.unlock = r.claiming.lock(id)
	started, err := r.startedAdvice(q)
	if err != nil {
		l.release()
		return nil, err
	}
	d := l.draft()
	began := d.now()
	if len(q.Tried) > 0 && !q.Tried[0].At.IsZero() && q.Tried[0].At.Before(began) {
		began = later(q.Tried[0].At, began.Add(-oldest))
	}
	d.note(began, started, l.claimed(timeline.Lease{Owner: r.owner, Epoch: 1}))
	d.askAbout(ctx, q)
	return d.keep(ctx, func(ctx context.Context) error {
		lease, err := r.log.Begin(ctx, id, r.owner, r.leaseTTL, func(timeline.Lease) []recovery.Event { return d.events })
		if err == nil {
			l.hold(lease)
		}
		return err
	})
}

// startedAdvice opens the run of a call.
func (r *Runner) startedAdvice(q recovery.Question) (recovery.Started, error) {
	if err := (Request{SessionKey: q.SessionKey, AgentID: q.AgentID}).checkCaller(); err != nil {
		return recovery.Started{}, err
	}
	model := q.Model
	if len(q.Tried) > 0 {
		model = q.Tried[0].Model
	}
	s := recovery.Started{
		Model: model, Input: said(q.Said), Policy: r.Policy(), SessionKey: q.SessionKey, AgentID: q.AgentID,
		Labels: recovery.CallLabels(recovery.KindAdvised, q.SessionKey),
	}
	p := &s.Policy
	if err := r.pinTimeouts(p, model, recovery.Settings{}); err != nil {
		return recovery.Started{}, err
	}
	p.BeforeCall, p.ToolError = nil, nil
	p.Calls, p.Tools, p.Models = recovery.CallsOfCaller, recovery.ToolsOfCaller, append([]string{model}, q.Alternatives...)
	p.MaxRounds, p.ParallelTools, p.Budget, p.DayBudget = 0, 0, q.Budget, recovery.Budget{}
	p.Timeouts = recovery.Timeouts{Patience: p.Timeouts.Patience} // the others are for calls, which the caller makes
	if q.Shown {
		p.Delivery = recovery.DeliverFinal
	}
	if q.AutoRecover != nil {
		p.AutoRecover = *q.AutoRecover
	}
	var err error
	if p.Plugins, err = r.pluginsOf(Request{}); err != nil {
		return recovery.Started{}, err
	}
	r.hideStarted(&s)
	return s, nil
}

// goOnAdvising gives advice on a later attempt of a call whose run is open.
func (r *Runner) goOnAdvising(ctx context.Context, id string, q recovery.Question) (*recovery.Run, error) {
	l, err := r.claim(ctx, id)
	if err != nil {
		return nil, err
	}
	if l.run.Policy.Calls != recovery.CallsOfCaller || l.run.Call.Attempts > q.Attempt {
		l.release()
		return nil, recovery.ErrPassedOver
	}
	d := l.draft()
	d.note(d.now(), l.claimed(l.lease))
	d.askAbout(ctx, q)
	return d.keepMore(ctx)
}

// settleCall ends the newest run of a call.
func (r *Runner) settleCall(ctx context.Context, rep recovery.Report) (*recovery.Run, error) {
	id := adviceID(rep.Call, 0)
	for n := 1; n < mostCalls; n++ {
		next := adviceID(rep.Call, n)
		if _, err := r.log.Read(ctx, next, 0, 1); err != nil {
			break
		}
		id = next
	}
	l, err := r.claim(ctx, id)
	if err != nil {
		return nil, err
	}
	if l.run.End != nil || l.run.Policy.Calls != recovery.CallsOfCaller {
		l.release()
		return l.run, nil
	}
	d := l.draft()
	d.note(d.now(), l.claimed(l.lease))
	d.end(rep)
	return d.keepMore(ctx)
}
