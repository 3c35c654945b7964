package telemetry

import (
	"context"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Happened implements runner.Observer: it measures an event.
func (t *Telemetry) Happened(run *recovery.Run, e recovery.Event) {
	switch e.Body.(type) {
	case recovery.Noted, recovery.Repaired, recovery.Slept:
		return // frequent, and not measured
	}
	l := t.traceOf(run, e)
	switch b := e.Body.(type) {
	case recovery.Started:
		t.meters.started.Add(l.ctx, 1)
	case recovery.Claimed:
		t.claimed(l, e, b)
	case recovery.Began:
		t.began(l, run, e, b)
	case recovery.Answered:
		t.answered(l, run, e, b)
	case recovery.Failed:
		t.failed(l, run, e, b)
	case recovery.Voted:
		t.voted(l, run, e, b)
	case recovery.Decided:
		t.decided(l, b.Decision)
	case recovery.Waiting:
		t.waiting(l, e, b)
	case recovery.Due:
		if b.Timer == failure.TimerWait || b.Timer == failure.TimerNetwork {
			t.waited(l, e.Time)
		}
	case recovery.ToolBegan:
		s := l.toolSpan(run, e, b)
		l.tools[b.CallID] = &s
	case recovery.ToolReturned:
		t.toolReturned(l, e, b)
	case recovery.Compacting:
		t.compacting(l, run, e, b)
	case recovery.Compacted:
		t.compacted(l, run, e, b)
	case recovery.Suggested:
		if run.SuggestionOpen() {
			t.meters.offered.Add(l.ctx, 1, t.labels.of(labelAction.String(actionLabel(b.Suggestion.SuggestedAction))))
		}
	case recovery.Accepted:
		t.accepted(l, run, e, b)
	case recovery.Paused:
		if b.For > 0 {
			t.meters.storePaused.Record(l.ctx, b.For.Duration().Seconds())
		}
	case recovery.Ended:
		t.ended(l, run, e, b)
	}
	t.stands(l, goingOn(run))
}

// Left implements runner.Observer: it ends what is still open in a run that is no longer
// driven.
func (t *Telemetry) Left(run *recovery.Run) {
	l := t.take(run.ID)
	if l == nil {
		return
	}
	now := t.now()
	if l.attempt != nil {
		t.end(&l.attempt.timedSpan, now, outcomeLetGo)
	}
	if l.summary != nil {
		t.end(&l.summary.timedSpan, now, outcomeLetGo)
	}
	for _, s := range l.tools {
		t.end(s, now, outcomeLetGo)
	}
	if l.wait != nil { // parked: this process does not see its end
		t.count(l.ctx, l.wait, max(0, l.wait.is.Until.Sub(l.wait.began)))
		t.end(&l.wait.timedSpan, now, outcomeLetGo)
	}
	if l.round != nil {
		l.round.span.End(at(now))
	}
	t.stands(l, "")
	endRun(l.span, run, now)
}

// goingOn is the status of a run in progress, "" for any other.
func goingOn(run *recovery.Run) recovery.Status {
	switch run.Status {
	case recovery.StatusRunning, recovery.StatusWaiting:
		return run.Status
	case recovery.StatusCompleted, recovery.StatusFailed, recovery.StatusCancelled:
	}
	return ""
}

// stands counts the run under its new status; "" = it is not driven.
func (t *Telemetry) stands(l *runTrace, status recovery.Status) {
	if status == l.status {
		return
	}
	if l.status != "" {
		t.meters.driven.Add(l.ctx, -1, t.labels.of(labelStatus.String(string(l.status))))
	}
	if status != "" {
		t.meters.driven.Add(l.ctx, 1, t.labels.of(labelStatus.String(string(status))))
	}
	l.status = status
}

func (t *Telemetry) claimed(l *runTrace, e recovery.Event, b recovery.Claimed) {
	if b.Epoch > 1 {
		t.meters.resumed.Add(l.ctx, 1)
	}
	setClaimed(l.span, b)
	t.waited(l, e.Time)
}

func (t *Telemetry) began(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Began) {
	t.waited(l, e.Time)
	if l.round == nil || l.round.n != b.Round {
		if l.round != nil {
			l.round.span.End(at(e.Time))
		}
		l.round = t.startRound(l, e, b.Round)
	}
	l.attempt = &attempt{timedSpan: l.attemptSpan(e, b), id: b.Attempt, model: b.Model, spent: run.Spent.Minus(b.Reserve)}
}

func (t *Telemetry) answered(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Answered) {
	a := l.attempt
	l.attempt = nil
	if a == nil || a.id != b.Attempt {
		return
	}
	provider, model := t.models.of(a.model)
	if b.FirstEvent > 0 {
		t.meters.firstEvent.Record(l.ctx, b.FirstEvent.Duration().Seconds(), t.labels.of(provider, model))
	}
	t.over(l.ctx, a, e.Time, outcomeAnswered, outcomeNone)
	t.used(l.ctx, a.model, b.Usage, run.Spent.Minus(a.spent))
	t.endAnswered(a, b, e.Time)
}

func (t *Telemetry) failed(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Failed) {
	if b.Attempt == 0 {
		return // of the run or of a tool, which have spans of their own
	}
	a := l.attempt
	l.attempt = nil
	if a == nil || a.id != b.Attempt { // it was in progress when another process died
		a = &attempt{id: b.Attempt, model: b.Failure.Model, spent: run.Spent}
		if run.Attempt != nil && run.Attempt.ID == b.Attempt {
			a.model = run.Attempt.Model
		}
	}
	outcome := outcomeFailed
	if b.Cause == recovery.CauseHandedOver {
		outcome = outcomeLetGo
	}
	t.over(l.ctx, a, e.Time, outcome, kindLabel(b.Failure.Kind))
	t.used(l.ctx, a.model, b.Usage, run.Spent.Minus(a.spent))
	provider, model := t.models.of(a.model)
	if n := b.Usage.Total(); n > 0 {
		t.meters.wasted.Add(l.ctx, min(n, maxTokens), t.labels.of(provider, model))
	}
	if outcome == outcomeLetGo {
		t.end(&a.timedSpan, e.Time, outcome)
		return
	}
	t.endFailed(a, b, e.Time)
}

// over counts an attempt that has ended.
func (t *Telemetry) over(ctx context.Context, a *attempt, by time.Time, outcome, kind string) {
	provider, model := t.models.of(a.model)
	t.meters.attempts.Add(ctx, 1, t.labels.of(provider, model, labelOutcome.String(outcome), labelKind.String(kind)))
	if !a.began.IsZero() {
		t.meters.attemptTook.Record(ctx, a.took(by), t.labels.of(provider, model, labelOutcome.String(outcome)))
	}
}

// maxTokens bounds what a provider may report for one call.
const maxTokens = 1 << 40

// used counts what a call used, as its provider reports.
func (t *Telemetry) used(ctx context.Context, name string, u llm.Usage, cost recovery.Budget) {
	provider, model := t.models.of(name)
	for _, n := range []struct {
		of string
		n  int64
	}{
		{"input", u.InputTokens}, {"output", u.OutputTokens}, {"cache_read", u.CacheReadTokens}, {"cache_write", u.CacheWriteTokens},
	} {
		if n.n > 0 {
			t.meters.tokens.Add(ctx, min(n.n, maxTokens), t.labels.of(provider, model, labelType.String(n.of)))
		}
	}
	if cost.Microdollars > 0 {
		t.meters.cost.Add(ctx, float64(cost.Microdollars)/1e6, t.labels.of(provider, model))
	}
}

func (t *Telemetry) voted(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Voted) {
	plugin := labelPlugin.String(t.plugins.of(b.Vote.Plugin))
	t.meters.hookTook.Record(l.ctx, b.Vote.Latency.Duration().Seconds(), t.labels.of(plugin, labelOutcome.String(voteLabel(b.Vote))))
	t.showVote(l, run, e, b.Vote)
}

func (t *Telemetry) decided(l *runTrace, d recovery.Decision) {
	plugin := outcomeNone
	if d.By != nil {
		plugin = t.plugins.of(d.By.Plugin)
	}
	t.meters.decisions.Add(l.ctx, 1, t.labels.of(labelPlugin.String(plugin), labelAction.String(actionLabel(d.Action))))
	showDecision(l, d)
}

func (t *Telemetry) waiting(l *runTrace, e recovery.Event, b recovery.Waiting) {
	l.wait = &wait{l.waitSpan(e, b), b}
}

// waited ends the current wait, if there is one.
func (t *Telemetry) waited(l *runTrace, by time.Time) {
	w := l.wait
	if w == nil {
		return
	}
	l.wait = nil
	t.count(l.ctx, w, max(0, by.Sub(w.began)))
	t.end(&w.timedSpan, by, outcomeOver)
}

func (t *Telemetry) count(ctx context.Context, w *wait, d time.Duration) {
	t.meters.waited.Record(ctx, d.Seconds(), t.labels.of(labelFor.String(string(w.is.For))))
}

func (t *Telemetry) toolReturned(l *runTrace, e recovery.Event, b recovery.ToolReturned) {
	s := l.tools[b.CallID]
	if s == nil {
		return // it was never run, or began in another process
	}
	delete(l.tools, b.CallID)
	t.meters.toolTook.Record(l.ctx, s.took(e.Time), t.labels.of(labelOutcome.String(string(b.Outcome))))
	t.end(s, e.Time, string(b.Outcome))
}

func (t *Telemetry) compacting(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Compacting) {
	l.summary = &attempt{timedSpan: l.callSpan(e, b.Model), model: b.Model, spent: run.Spent.Minus(b.Reserve)}
}

func (t *Telemetry) compacted(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Compacted) {
	a := l.summary
	if a == nil {
		return
	}
	l.summary = nil
	t.used(l.ctx, a.model, b.Usage, run.Spent.Minus(a.spent))
	t.endSummary(a, b, e.Time)
}

func (t *Telemetry) accepted(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Accepted) {
	var actions []recovery.Button
	switch {
	case l.wait != nil && l.wait.is.ID == b.Suggestion:
		actions = l.wait.is.Actions
		t.waited(l, e.Time)
	case run.Suggestion != nil && run.Suggestion.ID == b.Suggestion:
		actions = run.Suggestion.Actions
	}
	kind := other
	if o := run.Open; o != nil && o.Cause == recovery.CauseCutShort && o.Accepted {
		kind = recovery.ButtonRetryNow
		if o.Decision.Action == recovery.ActionSwitchModel {
			kind = recovery.ButtonSwitchModel
		}
	}
	if i := slices.IndexFunc(actions, func(c recovery.Button) bool { return c.ID == b.Action }); i >= 0 {
		kind = buttonLabel(actions[i].Kind)
	}
	t.meters.answered.Add(l.ctx, 1, t.labels.of(labelAction.String(kind)))
}

func (t *Telemetry) ended(l *runTrace, run *recovery.Run, e recovery.Event, b recovery.Ended) {
	t.waited(l, e.Time)
	if a := l.attempt; a != nil {
		l.attempt = nil
		t.over(l.ctx, a, e.Time, outcomeCancelled, outcomeNone)
		t.end(&a.timedSpan, e.Time, outcomeCancelled)
	}
	t.meters.ended.Add(l.ctx, 1, t.labels.of(labelStatus.String(string(b.Status)), labelStop.String(stopLabel(b.StopReason))))
	if recovered(run) {
		t.meters.recovered.Add(l.ctx, 1)
	}
}

// recovered reports whether a run was answered in spite of failures.
func recovered(run *recovery.Run) bool {
	return run.Status == recovery.StatusCompleted && run.FailedAttempts > 0
}
