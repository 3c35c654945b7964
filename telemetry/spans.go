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

// noSpan is the span of what nobody here saw begin.
var noSpan = trace.SpanFromContext(context.Background())

func at(when time.Time) trace.SpanEventOption { return trace.WithTimestamp(when) }

// start begins a span with what it has in common with all others.
func (t *Telemetry) start(ctx context.Context, name string, kind trace.SpanKind, e recovery.Event, kvs ...attribute.KeyValue) (context.Context, trace.Span) {
	ctx, span := t.tracer.Start(ctx, name, at(e.Time), trace.WithSpanKind(kind))
	span.SetAttributes(append(kvs, keyRun.String(e.Run), keySeq.Int64(int64(e.Seq)))...) //nolint:gosec // a run has no 2⁶³ events
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
	if run.Status == recovery.StatusFailed {
		span.SetStatus(codes.Error, "")
		if run.Open != nil {
			span.SetAttributes(keyErrorType.String(run.Open.Failure.ErrorType()))
		}
	}
	span.End(at(by))
}

func (t *Telemetry) startRound(l *leg, e recovery.Event, n int) *round {
	r := &round{n: n, ctx: l.ctx, span: noSpan}
	if l.span.IsRecording() {
		r.ctx, r.span = t.start(l.ctx, "round "+strconv.Itoa(n), trace.SpanKindInternal, e, keyRound.Int(n))
	}
	return r
}

func (t *Telemetry) startAttempt(l *leg, e recovery.Event, b recovery.Began) trace.Span {
	span := t.startCall(l, e, b.Model, keyAttempt.Int64(int64(b.Attempt)), keyTry.Int(b.Try), keyRetry.Bool(b.Retry)) //nolint:gosec // nor so many attempts
	if n := b.Adjust.MaxOutputTokens; n > 0 && span.IsRecording() {
		span.SetAttributes(keyMaxTokens.Int(n))
	}
	return span
}

func (t *Telemetry) startSummary(l *leg, e recovery.Event, b recovery.Compacting) trace.Span {
	return t.startCall(l, e, b.Model)
}

// startCall begins the span of a call of a model.
func (t *Telemetry) startCall(l *leg, e recovery.Event, name string, kvs ...attribute.KeyValue) trace.Span {
	if !l.span.IsRecording() {
		return noSpan
	}
	provider, model, _ := strings.Cut(name, "/")
	_, span := t.start(l.below(), operationChat+" "+model, trace.SpanKindClient, e,
		append(kvs, keyOperation.String(operationChat), keyProvider.String(provider), keyRequestModel.String(model))...)
	return span
}

func endAnswered(span trace.Span, b recovery.Answered, by time.Time) {
	if span.IsRecording() {
		endOutcome(span, by, outcomeAnswered, withUsage(b.Usage,
			keyFirstEvent.Int64(int64(b.FirstEvent)), keyFinish.StringSlice([]string{string(b.Stop)}))...)
	}
}

func endFailed(span trace.Span, b recovery.Failed, by time.Time) {
	if !span.IsRecording() {
		return
	}
	f := b.Failure
	kvs := withUsage(b.Usage, keyErrorType.String(f.ErrorType()), keyCode.String(string(f.Code)), keyPhase.String(string(f.Phase)))
	if f.HTTPStatus != 0 {
		kvs = append(kvs, keyHTTPStatus.Int(f.HTTPStatus))
	}
	if f.Timer != "" {
		kvs = append(kvs, keyTimer.String(string(f.Timer)))
	}
	span.SetStatus(codes.Error, "")
	endOutcome(span, by, outcomeFailed, kvs...)
}

func endSummary(span trace.Span, b recovery.Compacted, by time.Time) {
	if !span.IsRecording() {
		return
	}
	outcome := outcomeAnswered
	if b.Reason != "" {
		outcome = outcomeFailed
	}
	endOutcome(span, by, outcome, withUsage(b.Usage)...)
}

// mostAttributes is how many a span is given when it ends; a guess.
const mostAttributes = 12

// withUsage adds what a call used, as far as that is known.
func withUsage(u llm.Usage, kvs ...attribute.KeyValue) []attribute.KeyValue {
	kvs = append(make([]attribute.KeyValue, 0, mostAttributes), kvs...)
	if u == (llm.Usage{}) {
		return kvs
	}
	kvs = append(kvs, keyInput.Int64(u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens), keyOutput.Int64(u.OutputTokens))
	if u.CacheReadTokens > 0 {
		kvs = append(kvs, keyCacheRead.Int64(u.CacheReadTokens))
	}
	if u.CacheWriteTokens > 0 {
		kvs = append(kvs, keyCacheWrite.Int64(u.CacheWriteTokens))
	}
	return kvs
}

func endOutcome(span trace.Span, by time.Time, outcome string, kvs ...attribute.KeyValue) {
	if span.IsRecording() {
		span.SetAttributes(append(kvs, keyOutcome.String(outcome))...)
		span.End(at(by))
	}
}

// startTool names the tool only where the run has one of that name: a model makes names up.
func (t *Telemetry) startTool(l *leg, run *recovery.Run, e recovery.Event, b recovery.ToolBegan) trace.Span {
	if !l.span.IsRecording() {
		return noSpan
	}
	name := other
	if slices.ContainsFunc(run.Tools, func(d recovery.ToolDecl) bool { return d.Name == b.Name }) {
		name = b.Name
	}
	_, span := t.start(l.below(), operationTool+" "+name, trace.SpanKindInternal, e,
		keyOperation.String(operationTool), keyToolName.String(name), keyTry.Int(b.Try))
	return span
}

func (t *Telemetry) startWait(l *leg, e recovery.Event, b recovery.Waiting) trace.Span {
	if !l.span.IsRecording() {
		return noSpan
	}
	_, span := t.start(l.below(), "wait "+string(b.For), trace.SpanKindInternal, e, keyWaitFor.String(string(b.For)))
	return span
}

// showVote makes the span of a vote, which is known when it is over.
func (t *Telemetry) showVote(l *leg, run *recovery.Run, e recovery.Event, v recovery.Vote) {
	if !l.span.IsRecording() {
		return
	}
	asked := e
	asked.Time = e.Time.Add(-v.Latency.Duration())
	if o := run.Open; o != nil && asked.Time.Before(o.At) {
		asked.Time = o.At // latencies are rounded
	}
	_, span := t.start(l.below(), "hook "+v.Plugin, trace.SpanKindClient, asked,
		keyPlugin.String(v.Plugin), keyAction.String(actionLabel(v.Action)), keyShadow.Bool(v.Shadow))
	if v.Version != "" {
		span.SetAttributes(keyVersion.String(v.Version))
	}
	if voteLabel(v) == outcomeError {
		span.SetStatus(codes.Error, "")
	}
	endOutcome(span, e.Time, voteLabel(v))
}

// showDecision says on the round's span what was decided last.
func showDecision(l *leg, d recovery.Decision) {
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
