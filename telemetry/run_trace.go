package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mulligan-run/mulligan/recovery"
)

// runTrace is what is known of a run while this process drives it, once. The goroutine that
// drives the run is the only one that touches it.
type runTrace struct {
	ctx     context.Context // of what is below the run's span
	span    trace.Span
	status  recovery.Status // it is counted under
	round   *round
	attempt *attempt
	summary *attempt // of a conversation that became too long
	tools   map[string]*timedSpan
	wait    *wait
}

// round is a model call and what it led to.
type round struct {
	n    int
	ctx  context.Context
	span trace.Span
}

// timedSpan is something that takes a while. Its span is made when it is over.
type timedSpan struct {
	began time.Time
	below context.Context // nil = there is to be no span
	name  string
	kind  trace.SpanKind
	kvs   []attribute.KeyValue
}

// attempt is a model call in the air.
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

// traceOf finds the trace that an event belongs to, and begins one where there is none.
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

// below is the context of what happens in the round at hand, or before the first.
func (l *runTrace) below() context.Context {
	if l.round != nil {
		return l.round.ctx
	}
	return l.ctx
}

// took is how long s has taken by then, in seconds.
func (s timedSpan) took(by time.Time) float64 { return max(0, by.Sub(s.began)).Seconds() }
