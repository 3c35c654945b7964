// Package telemetry shows what runs come to in traces and metrics.
//
// A [Telemetry] observes the runs that a process drives: it is a runner's observer, told
// each event once it is durable, and works on nothing else. There is no work per token,
// none that waits, and no I/O on a run's goroutine: what is measured is added up in memory
// (metrics.go), and finished spans go through a bounded queue (queue.go), which drops and
// counts what does not fit.
//
//	t, err := telemetry.New(ctx, telemetry.Config{Prometheus: true})
//	r := runner.New(runner.WithObserver(t))
//	http.Handle("/metrics", t.Handler())
//	…
//	err = t.Close(ctx)
//
// A run is one trace, however many processes drive it one after the other, since the
// trace's id comes out of the run's (ids.go). Each time that it is driven is a span of it,
// and has these below it:
//
//	run ─┬─ round 1 ─┬─ chat claude        an attempt
//	     │           ├─ hook auto-recover  a plugin's vote
//	     │           ├─ wait time
//	     │           ├─ chat claude        the next attempt
//	     │           └─ execute_tool search
//	     └─ round 2 ─── …
//
// What is kept of a run between its events is its trace (run_trace.go); drive.go turns events into
// what is measured and into spans, spans.go names these. What an HTTP API is asked has spans
// of its own (requests.go).
//
// Nothing that was said is ever shown: no prompt, answer, tool's arguments or results, nor
// words of a failure, nor the path, query and headers of a request. A label of a metric has
// few values: models that are not configured share one (labels.go). docs/observability.md
// lists every name.
package telemetry
