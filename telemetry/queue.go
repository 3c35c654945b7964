package telemetry

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	maxSpans        = 4096 // finished spans that may wait for their export
	maxSpansPerSend = 512
)

// The reasons for which a span is dropped.
var (
	droppedFull   = metric.WithAttributeSet(attribute.NewSet(labelReason.String("queue_full")))
	droppedUnsent = metric.WithAttributeSet(attribute.NewSet(labelReason.String("export_failed")))
)

// queue keeps finished spans until they are exported, in the background and many at a time. A
// span that does not fit is dropped and counted, so that nobody ever waits for a collector.
type queue struct {
	sdktrace.SpanProcessor
	waiting atomic.Int64
	to      sdktrace.SpanExporter
	dropped metric.Int64Counter
}

func newQueue(to sdktrace.SpanExporter, dropped metric.Int64Counter) *queue {
	q := &queue{to: to, dropped: dropped}
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(exporter{q},
		sdktrace.WithMaxQueueSize(maxSpans), sdktrace.WithMaxExportBatchSize(maxSpansPerSend))
	return q
}

// OnEnd takes a finished span.
func (q *queue) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if q.waiting.Add(1) > maxSpans {
		q.waiting.Add(-1)
		q.drop(1, droppedFull)
		return
	}
	q.SpanProcessor.OnEnd(span)
}

func (q *queue) drop(n int, reason metric.MeasurementOption) {
	q.dropped.Add(context.Background(), int64(n), reason)
}

// exporter is the queue's way out.
type exporter struct{ q *queue }

// ExportSpans sends spans on.
func (e exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer e.q.waiting.Add(-int64(len(spans)))
	err := e.q.to.ExportSpans(ctx, spans)
	if err != nil {
		e.q.drop(len(spans), droppedUnsent)
	}
	return err
}

// Shutdown ends the exporter.
func (e exporter) Shutdown(ctx context.Context) error { return e.q.to.Shutdown(ctx) }
