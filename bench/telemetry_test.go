package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/telemetry"
)

// BenchmarkTelemetry measures what an event costs the goroutine that drives its run: with metrics,
// and with metrics and traces. "off" only applies events. cpu-ns/op counts all processors,
// including the export's goroutine, and does not depend on how busy the machine is. Every round of
// the run has a failure with a vote, a wait and a tool.
func BenchmarkTelemetry(b *testing.B) {
	for _, c := range []struct {
		name            string
		metrics, traces bool
	}{{"off", false, false}, {"metrics", true, false}, {"metrics and traces", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var told *telemetry.Telemetry
			if c.metrics {
				cfg := telemetry.Config{Models: []string{"acme/small"}, Prometheus: true}
				if c.traces {
					cfg.Spans = discardSpans{}
				}
				var err error
				if told, err = telemetry.New(b.Context(), cfg); err != nil {
					b.Fatal(err)
				}
				defer func() { _ = told.Close(context.Background()) }()
			}
			events := measuredRun(b, 20)
			before := processorTime(b)
			for n := 0; n < b.N; {
				run := &recovery.Run{}
				for _, e := range events[:min(len(events), b.N-n)] {
					if err := run.Apply(e); err != nil {
						b.Fatal(err)
					}
					if told != nil {
						told.Happened(run, e)
					}
					n++
				}
				if told != nil {
					told.Left(run)
				}
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// measuredRun is a run of so many rounds in which everything happens.
func measuredRun(b *testing.B, rounds int) []recovery.Event {
	b.Helper()
	began := time.Now()
	var events []recovery.Event
	add := func(bodies ...recovery.Body) {
		for _, body := range bodies {
			n := len(events) + 1
			events = append(events, recovery.Event{Run: "r1", Seq: uint64(n), Time: began.Add(time.Duration(n) * time.Millisecond), Body: body}) //nolint:gosec // small
		}
	}
	add(recovery.Started{Model: "acme/small", Input: []llm.Message{llm.User("hello")}, Policy: recovery.DefaultPolicy()}, recovery.Claimed{Owner: "me", Epoch: 1})
	usage := llm.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 50}
	refused := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil)
	for round := range rounds {
		first := uint64(2*round + 1) //nolint:gosec // small
		call := llm.ToolCall{ID: fmt.Sprint("c", round), Name: "search", Args: []byte("{}")}
		add(recovery.Began{Attempt: first, Round: round + 1, Model: "acme/small"}, recovery.Failed{Attempt: first, Failure: refused, Usage: usage})
		failed := uint64(len(events)) //nolint:gosec // small
		about := recovery.Occasion(fmt.Sprintf("%s/%d", recovery.HookRunError, failed))
		add(
			recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "helper", Action: recovery.ActionRetry, Latency: 1}},
			recovery.Decided{Occasion: about, Decision: recovery.Decision{Action: recovery.ActionRetry, By: &recovery.Voter{Plugin: "helper"}}},
			recovery.Waiting{ID: fmt.Sprint("w", round), For: recovery.WaitTime},
			recovery.Due{Timer: failure.TimerWait, Failure: failed},
			recovery.Began{Attempt: first + 1, Round: round + 1, Model: "acme/small", Try: 1, Retry: true},
			recovery.Answered{Attempt: first + 1, Usage: usage, FirstEvent: 3, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}}},
			recovery.ToolBegan{CallID: call.ID, Name: call.Name},
			recovery.ToolReturned{CallID: call.ID, Outcome: recovery.OutcomeOK, Result: llm.ToolResult{CallID: call.ID, Name: call.Name}},
		)
	}
	add(recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"})
	return events
}

// discardSpans discards spans.
type discardSpans struct{}

// ExportSpans discards them.
func (discardSpans) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }

// Shutdown does nothing.
func (discardSpans) Shutdown(context.Context) error { return nil }
