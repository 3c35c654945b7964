package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"

	"go.opentelemetry.io/otel/trace"

	"github.com/mulligan-run/mulligan/recovery"
)

// ids gives all spans of a run the same trace, whichever process makes them. The SDK calls it
// from many goroutines.
type ids struct{}

type runKey struct{}

// ofRun is a context for a span that is the parent of a run's other spans.
func ofRun(ctx context.Context, run *recovery.Run) context.Context {
	return context.WithValue(ctx, runKey{}, traceID(run))
}

// traceID is the id of a run's trace. It includes the run's beginning, because ids that
// requesters choose may be the same in many stores.
func traceID(run *recovery.Run) trace.TraceID {
	sum := sha256.Sum256([]byte(run.ID + "\n" + strconv.FormatInt(run.StartedAt.UnixNano(), 10)))
	return trace.TraceID(sum[:16])
}

// NewIDs returns the ids of a root span.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(runKey{}).(trace.TraceID)
	for !ok || !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
		ok = true
	}
	return id, ids{}.NewSpanID(ctx, id)
}

// NewSpanID returns the id of another span in a trace.
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
