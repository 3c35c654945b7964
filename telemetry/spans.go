package telemetry

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// noSpan is the span of something whose beginning this process did not see.
var noSpan = trace.SpanFromContext(context.Background())

func at(when time.Time) trace.SpanEventOption { return trace.WithTimestamp(when) }

// start begins a span with the attributes that all spans have.
func (t *Telemetry) start(ctx context.Context, name string, kind trace.SpanKind, e recovery.Event, kvs ...attribute.KeyValue) (context.Context, trace.Span) {
	ctx, span := t.tracer.Start(ctx, name, at(e.Time), trace.WithSpanKind(kind))
	span.SetAttributes(append(kvs, keyRun.String(e.Run), keySeq.Int64(int64(e.Seq)))...) //nolint:gosec // a run never has 2⁶³ events
	return ctx, span
}

func (t *Telemetry) startRun(run *recovery.Run, e recovery.Event) (context.Context, trace.Span) {
	ctx := context.Background()
	if t.traces == nil {
		return ctx, noSpan
	}
	ctx, span := t.start(ofRun(ctx, run), "run", trace.SpanKindInternal, e, keyOperation.String(operationAgent), keyAuto.Bool(run.Policy.AutoRecover))
	if run.Session != "" {
		span.SetAttributes(keyConversation.String(run.Session))
	}
	return ctx, span
}

func setClaimed(span trace.Span, b recovery.Claimed) {
	if span.IsRecording() {
		span.SetAttributes(keyEpoch.Int64(int64(b.Epoch)), keyResumed.Bool(b.Epoch > 1)) //nolint:gosec // nor so many owners
	}
}

func endRun(span trace.Span, run *recovery.Run, by time.Time) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(keyStatus.String(string(run.Status)), keyFailures.Int(run.FailedAttempts), keyRecovered.Bool(recovered(run)))
	if run.End != nil {
		span.SetAttributes(keyStop.String(stopLabel(run.End.StopReason)))
	}
	if run.Status == recovery.StatusFailed && !run.AsksApproval() {
		span.SetStatus(codes.Error, "")
		if f := run.Failure(); f != nil {
			span.SetAttributes(keyErrorType.String(f.ErrorType()))
		}
	}
	span.End(at(by))
}

func (t *Telemetry) startRound(l *runTrace, e recovery.Event, n int) *round {
	r := &round{n: n, ctx: l.ctx, span: noSpan}
	if l.span.IsRecording() {
		r.ctx, r.span = t.start(l.ctx, "round "+strconv.Itoa(n), trace.SpanKindInternal, e, keyRound.Int(n))
	}
	return r
}

// mostAttributes is roughly how many attributes a span has.
const mostAttributes = 18

// timedSpan begins something; end makes its span.
func (l *runTrace) timedSpan(e recovery.Event, name string, kind trace.SpanKind, kvs ...attribute.KeyValue) timedSpan {
	if !l.span.IsRecording() {
		return timedSpan{began: e.Time}
	}
	all := append(make([]attribute.KeyValue, 0, mostAttributes), kvs...)
	all = append(all, keyRun.String(e.Run), keySeq.Int64(int64(e.Seq))) //nolint:gosec // a run never has 2⁶³ events
	return timedSpan{e.Time, l.below(), name, kind, all}
}

// add gives the span more attributes, if there will be one.
func (s *timedSpan) add(kvs ...attribute.KeyValue) {
	if s.below != nil {
		s.kvs = append(s.kvs, kvs...)
	}
}

// end makes the span of something that is over.
func (t *Telemetry) end(s *timedSpan, by time.Time, outcome string) {
	if s.below == nil {
		return
	}
	_, span := t.tracer.Start(s.below, s.name, at(s.began), trace.WithSpanKind(s.kind))
	span.SetAttributes(append(s.kvs, keyOutcome.String(outcome))...)
	if outcome == outcomeFailed || outcome == outcomeError {
		span.SetStatus(codes.Error, "")
	}
	span.End(at(by))
}

func (l *runTrace) attemptSpan(e recovery.Event, b recovery.Began) timedSpan {
	s := l.callSpan(e, b.Model, keyAttempt.Int64(int64(b.Attempt)), keyTry.Int(b.Try), keyRetry.Bool(b.Retry)) //nolint:gosec // nor so many attempts
	if n := b.Adjust.MaxOutputTokens; n > 0 {
		s.add(keyMaxTokens.Int(n))
	}
	return s
}

// callSpan begins the span of a model call.
func (l *runTrace) callSpan(e recovery.Event, name string, kvs ...attribute.KeyValue) timedSpan {
	provider, model, _ := strings.Cut(name, "/")
	s := l.timedSpan(e, operationChat+" "+model, trace.SpanKindClient, kvs...)
	s.add(keyOperation.String(operationChat), keyProvider.String(provider), keyRequestModel.String(model))
	return s
}

// toolSpan begins the span of a tool call. It names the tool only if the run has one with that
// name, since models invent names.
func (l *runTrace) toolSpan(run *recovery.Run, e recovery.Event, b recovery.ToolBegan) timedSpan {
	name := other
	if slices.ContainsFunc(run.Tools, func(d recovery.ToolDecl) bool { return d.Name == b.Name }) {
		name = b.Name
	}
	return l.timedSpan(e, operationTool+" "+name, trace.SpanKindInternal,
		keyOperation.String(operationTool), keyToolName.String(name), keyTry.Int(b.Try))
}

func (l *runTrace) waitSpan(e recovery.Event, b recovery.Waiting) timedSpan {
	return l.timedSpan(e, "wait "+string(b.For), trace.SpanKindInternal, keyWaitFor.String(string(b.For)))
}

func (t *Telemetry) endAnswered(a *attempt, b recovery.Answered, by time.Time) {
	a.add(keyFirstEvent.Int64(int64(b.FirstEvent)), keyFinish.StringSlice([]string{string(b.Stop)}))
	a.use(b.Usage)
	t.end(&a.timedSpan, by, outcomeAnswered)
}

func (t *Telemetry) endFailed(a *attempt, b recovery.Failed, by time.Time) {
	f := b.Failure
	a.add(keyErrorType.String(f.ErrorType()), keyCode.String(string(f.Code)), keyPhase.String(string(f.Phase)))
	if f.HTTPStatus != 0 {
		a.add(keyHTTPStatus.Int(f.HTTPStatus))
	}
	if f.Timer != "" {
		a.add(keyTimer.String(string(f.Timer)))
	}
	a.use(b.Usage)
	t.end(&a.timedSpan, by, outcomeFailed)
}

func (t *Telemetry) endSummary(a *attempt, b recovery.Compacted, by time.Time) {
	outcome := outcomeAnswered
	if b.Reason != "" {
		outcome = outcomeFailed
	}
	a.use(b.Usage)
	t.end(&a.timedSpan, by, outcome)
}

// use adds what a call used, as far as it is known.
func (a *attempt) use(u llm.Usage) {
	if u == (llm.Usage{}) {
		return
	}
	a.add(keyInput.Int64(u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens), keyOutput.Int64(u.OutputTokens))
	if u.CacheReadTokens > 0 {
		a.add(keyCacheRead.Int64(u.CacheReadTokens))
	}
	if u.CacheWriteTokens > 0 {
		a.add(keyCacheWrite.Int64(u.CacheWriteTokens))
	}
}

// showVote makes the span of a vote, which is known only when it is over.
func (t *Telemetry) showVote(l *runTrace, run *recovery.Run, e recovery.Event, v recovery.Vote) {
	asked := e
	asked.Time = e.Time.Add(-v.Latency.Duration())
	if o := run.Open; o != nil && asked.Time.Before(o.At) {
		asked.Time = o.At // latencies are rounded
	}
	s := l.timedSpan(asked, "hook "+v.Plugin, trace.SpanKindClient,
		keyPlugin.String(v.Plugin), keyVersion.String(v.Version), keyAction.String(actionLabel(v.Action)), keyShadow.Bool(v.Shadow))
	t.end(&s, e.Time, voteLabel(v))
}

// showDecision adds the last decision to the round's span.
func showDecision(l *runTrace, d recovery.Decision) {
	span := l.span
	if l.round != nil {
		span = l.round.span
	}
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(keyAction.String(actionLabel(d.Action)))
	if d.By != nil {
		span.SetAttributes(keyDecidedBy.String(d.By.Plugin))
	}
	if d.BlockedBy != "" {
		span.SetAttributes(keyBlockedBy.String(d.BlockedBy))
	}
}
