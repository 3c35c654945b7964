package bench

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// BenchmarkFailoverMemory measures, at the client's socket, the time from the last byte of a 503 to
// the first byte of the next request: the failure is read, classified and written, the hook (a Go
// function that says "retry") is asked, its vote, the decision and the new intent are written, and
// the request is built. The baseline reads the same answer and repeats the request at once.
func BenchmarkFailoverMemory(b *testing.B) { benchmarkFailover(b, timeline.NewMemory()) }

// BenchmarkFailoverSQLite is BenchmarkFailoverMemory with the durable log.
func BenchmarkFailoverSQLite(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "state"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	benchmarkFailover(b, store)
}

func benchmarkFailover(b *testing.B, log timeline.Log) {
	url := process(b, roleProvider)
	retry := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	})
	var ours, theirs failover
	r := runner.New(
		runner.WithLog(log), runner.WithModel("lab/"+flaky, adapter(b, url, ours.dial)),
		runner.WithAutoRecover(true), runner.WithHook("retry", retry),
	)
	client := newBare(url, theirs.dial)
	for b.Loop() {
		ours.start()
		if _, err := r.Run(b.Context(), "hi"); err != nil {
			b.Fatal(err)
		}
		theirs.start()
		if _, err := client.ask(b.Context(), flaky, "hi"); err == nil {
			b.Fatal("the provider did not fail")
		}
		if _, err := client.ask(b.Context(), flaky, "hi"); err != nil {
			b.Fatal(err)
		}
	}
	ours.spans.report(b, "")
	theirs.spans.report(b, base)
}
