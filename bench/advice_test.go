package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// BenchmarkDecide asks for advice about new calls. The plugin answers at once, so what is measured
// is everything but the plugin's own time. On a disk that includes one durable step, since a
// decision is written before it is returned.
func BenchmarkDecide(b *testing.B) {
	b.Run("memory", func(b *testing.B) { benchmarkDecide(b, timeline.NewMemory()) })
	b.Run("sqlite", func(b *testing.B) {
		store, err := sqlite.Open(b.Context(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		benchmarkDecide(b, store)
	})
}

func benchmarkDecide(b *testing.B, log timeline.Log) {
	b.Helper()
	hook := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry, Delay: 1000}, nil
	})
	r := runner.New(runner.WithLog(log), runner.WithHook("p", hook), runner.WithAutoRecover(true))
	desk := &advice.Desk{Runs: r, Classify: failure.Classify}
	var took spans
	n := 0
	for b.Loop() {
		n++
		q := advice.Question{Call: fmt.Sprint(n), Model: "anthropic/claude", Failure: advice.Evidence{Status: 500}}
		took.time(func() {
			if a, err := desk.Decide(b.Context(), "", q); err != nil || !a.Acts() {
				b.Fatalf("%+v, %v", a, err)
			}
		})
	}
	took.report(b, "")
	if err := r.Drain(b.Context()); err != nil {
		b.Fatal(err)
	}
}
