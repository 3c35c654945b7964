package bench

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

const (
	shortRun = 10     // steps
	longRun  = 10_000 // steps
)

// BenchmarkStepsMemory and BenchmarkStepsSQLite measure what a step of a run of 10,000 steps costs:
// the time of a round (a scripted model's call and a tool's, two steps) and, with snapshots, the
// processor time and the allocated bytes. The baseline is a run of 10 steps.
func BenchmarkStepsMemory(b *testing.B) {
	benchmarkSteps(b, func(b *testing.B) timeline.Log {
		b.Helper()
		return timeline.NewMemory()
	})
}

// BenchmarkStepsSQLite is BenchmarkStepsMemory with the log on disk.
func BenchmarkStepsSQLite(b *testing.B) {
	benchmarkSteps(b, func(b *testing.B) timeline.Log {
		b.Helper()
		return openStore(b)
	})
}

func openStore(b *testing.B) *timeline.Journal {
	b.Helper()
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "state"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

func benchmarkSteps(b *testing.B, open func(*testing.B) timeline.Log) {
	b.Helper()
	n := longRun
	if testing.Short() {
		n = 1000
	}
	var long, short steps
	for b.Loop() {
		long.run(b, open(b), n)
		log := open(b)
		for range n / shortRun / 10 {
			short.run(b, log, shortRun)
		}
	}
	long.report(b, "")
	short.report(b, base)
}

// steps are the costs of runs' steps.
type steps struct {
	rounds    spans
	n         int
	allocated uint64
	cpu       time.Duration // of this process
}

// run measures a run of n steps: rounds of a model call and a tool call.
func (s *steps) run(b *testing.B, log timeline.Log, n int) {
	b.Helper()
	var calls int
	var last time.Time
	model := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		if now := time.Now(); calls > 0 {
			s.rounds = append(s.rounds, now.Sub(last))
			last = now
		} else {
			last = now
		}
		calls++
		return round(calls, n/2)
	})
	look := runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return answerText, nil }}
	unlimited := runner.WithPolicy(func(p *recovery.Policy) { p.MaxRounds = 0 })
	r := runner.New(runner.WithLog(log), runner.WithModel("a/one", model), runner.WithTools(look), unlimited)
	before, used := memory(), processorTime(b)
	if _, err := r.Run(b.Context(), "Look around."); err != nil {
		b.Fatal(err)
	}
	s.cpu += processorTime(b) - used
	after := memory()
	s.n += n
	s.allocated += after.TotalAlloc - before.TotalAlloc
}

// round is the n-th answer of a model that calls its tool in every round but the last.
func round(n, last int) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		said := []llm.Delta{
			{Kind: llm.DeltaCall, CallID: fmt.Sprint("c", n), Name: "look"},
			{Kind: llm.DeltaArgs, Text: `{"where":"there"}`},
			{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
		}
		if n >= last {
			said = []llm.Delta{{Kind: llm.DeltaText, Text: answerText}, {Kind: llm.DeltaStop, Stop: llm.StopEnd}}
		}
		for _, d := range said {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func memory() runtime.MemStats {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}

func (s *steps) report(b *testing.B, prefix string) {
	b.Helper()
	s.rounds.report(b, prefix)
	b.ReportMetric(float64(s.cpu.Microseconds())/float64(s.n), prefix+"cpu-us/step")
	b.ReportMetric(float64(s.allocated)/float64(s.n), prefix+"B/step")
}
