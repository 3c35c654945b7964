package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mulligan-run/mulligan/recovery"
)

// leg is what is known of a run while this process drives it, once. The goroutine that
// drives the run is the only one that touches it.
type leg struct {
	ctx     context.Context // of what is below the run's span
	span    trace.Span
	status  recovery.Status // it is counted under
	round   *round
	attempt *attempt
	summary *attempt // of a conversation that became too long
	tools   map[string]*spell
	wait    *wait
}

// round is a model call and what it led to.
type round struct {
	n    int
	ctx  context.Context
	span trace.Span
}

// spell is something that takes a while. Its span is made when it is over.
type spell struct {
	began time.Time
	below context.Context // nil = there is to be no span
	name  string
	kind  trace.SpanKind
	kvs   []attribute.KeyValue
}

// attempt is a model call in the air.
type attempt struct {
	spell
	id    uint64
	model string
	spent recovery.Budget // by the run, before it began
}

// wait is a deliberate wait.
type wait struct {
	spell
	is recovery.Waiting
}

// legOf finds the leg that an event belongs to, and begins one where there is none.
func (t *Telemetry) legOf(run *recovery.Run, e recovery.Event) *leg {
	t.mu.Lock()
	l := t.legs[e.Run]
	t.mu.Unlock()
	if l != nil {
		return l
	}
	l = &leg{tools: map[string]*spell{}}
	l.ctx, l.span = t.startRun(run, e)
	t.mu.Lock()
	t.legs[e.Run] = l
	t.mu.Unlock()
	return l
}

// take ends the leg of a run; nil = there is none.
func (t *Telemetry) take(run string) *leg {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.legs[run]
	delete(t.legs, run)
	return l
}

// below is the context of what happens in the round at hand, or before the first.
func (l *leg) below() context.Context {
	if l.round != nil {
		return l.round.ctx
	}
	return l.ctx
}

// took is how long s has taken by then, in seconds.
func (s spell) took(by time.Time) float64 { return max(0, by.Sub(s.began)).Seconds() }
