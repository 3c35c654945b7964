package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mulligan-run/mulligan/recovery"
)

// runTrace is what is known of a run while this process drives it. Only the goroutine that drives
// the run uses it.
type runTrace struct {
	ctx     context.Context // for spans below the run's
	span    trace.Span
	status  recovery.Status // the status that it is counted under
	round   *round
	attempt *attempt
	summary *attempt // the call that shortens the conversation
	tools   map[string]*timedSpan
	wait    *wait
}

// round is a model call and what follows from it.
type round struct {
	n    int
	ctx  context.Context
	span trace.Span
}

// timedSpan is something with a duration. Its span is made when it is over.
type timedSpan struct {
	began time.Time
	below context.Context // nil = no span is made
	name  string
	kind  trace.SpanKind
	kvs   []attribute.KeyValue
}

// attempt is a model call in progress.
type attempt struct {
	timedSpan
	id    uint64
	model string
	spent recovery.Budget // by the run, before it began
}

// wait is a deliberate wait.
type wait struct {
	timedSpan
	is recovery.Waiting
}

// traceOf finds the trace of an event's run, and begins one if there is none.
func (t *Telemetry) traceOf(run *recovery.Run, e recovery.Event) *runTrace {
	t.mu.Lock()
	l := t.driven[e.Run]
	t.mu.Unlock()
	if l != nil {
		return l
	}
	l = &runTrace{tools: map[string]*timedSpan{}}
	l.ctx, l.span = t.startRun(run, e)
	t.mu.Lock()
	t.driven[e.Run] = l
	t.mu.Unlock()
	return l
}

// take ends the trace of a run; nil = there is none.
func (t *Telemetry) take(run string) *runTrace {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.driven[run]
	delete(t.driven, run)
	return l
}

// below is the context for spans in the current round, or before the first.
func (l *runTrace) below() context.Context {
	if l.round != nil {
		return l.round.ctx
	}
	return l.ctx
}

// took is how long s has taken, in seconds.
func (s timedSpan) took(by time.Time) float64 { return max(0, by.Sub(s.began)).Seconds() }
