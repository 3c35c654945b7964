package telemetry

import (
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mulligan-run/mulligan/recovery"
)

// TestAnApprovalIsNoError: the span of a run that waits for a person's approval has not failed, and
// that of one whose suggestion is about a failure has.
func TestAnApprovalIsNoError(t *testing.T) {
	for action, want := range map[recovery.Action]codes.Code{recovery.ActionApprove: codes.Unset, recovery.ActionRetry: codes.Error} {
		events := []recovery.Body{
			recovery.Started{Model: "a/one"},
			recovery.Failed{},
			recovery.Suggested{Suggestion: recovery.Suggestion{ID: "s", SuggestedAction: action, Actions: []recovery.Button{{ID: "a1"}}}},
		}
		run := &recovery.Run{}
		for i, b := range events {
			if err := run.Apply(recovery.Event{Run: "r", Seq: uint64(i + 1), Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		kept := tracetest.NewSpanRecorder()
		_, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(kept)).Tracer("t").Start(t.Context(), "run")
		endRun(span, run, run.Last)
		if got := kept.Ended()[0].Status().Code; got != want {
			t.Errorf("%s: the span's status is %v", action, got)
		}
	}
}
