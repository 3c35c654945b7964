package bench

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// BenchmarkSteps64Postgres is how many steps per second 64 runs make together whose log is in a
// database, compared with as many runs whose log is in SQLite.
func BenchmarkSteps64Postgres(b *testing.B) {
	const runs, each = 64, 40
	inDatabase, inFile := openPostgres(b), openStore(b)
	var database, file rate
	for b.Loop() {
		database.time(runs*each, func() { stepsSideBySide(b, inDatabase, runs, each) })
		file.time(runs*each, func() { stepsSideBySide(b, inFile, runs, each) })
	}
	database.report(b, "")
	file.report(b, base)
}

// stepsSideBySide drives so many runs of so many steps each.
func stepsSideBySide(b *testing.B, log timeline.Log, runs, steps int) {
	b.Helper()
	look := runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return answerText, nil }}
	sideBySide(b, runs, func(int) error {
		var calls int
		model := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
			calls++
			return round(calls, steps/2)
		})
		_, err := runner.New(runner.WithLog(log), runner.WithModel("a/one", model), runner.WithTools(look)).Run(b.Context(), "Look around.")
		return err
	})
}

// BenchmarkReservePostgres is how many calls per second 64 callers reserve in the daily budget that
// all members share, and how long a caller waits for it.
func BenchmarkReservePostgres(b *testing.B) {
	const callers, each = 64, 16
	store, err := postgres.Open(b.Context(), pgtest.Durable(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	day, err := health.Share(b.Context(), store.StandsOn().(health.Store))
	if err != nil {
		b.Fatal(err)
	}
	var all rate
	var refused atomic.Int64
	waits := make([]spans, callers)
	for b.Loop() {
		all.time(callers*each, func() {
			sideBySide(b, callers, func(i int) error {
				for range each {
					waits[i].time(func() {
						if _, lacks := day.Reserve(time.Now(), recovery.Budget{Tokens: 1}, recovery.Budget{Tokens: 1 << 40}); lacks != "" {
							refused.Add(1)
						}
					})
				}
				return nil
			})
		})
	}
	if n := refused.Load(); n > 0 {
		b.Fatalf("%d were refused", n)
	}
	var waited spans
	for _, some := range waits {
		waited = append(waited, some...)
	}
	waited.report(b, "")
	all.report(b, "")
}
