package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// BenchmarkRun is a run of two appends, which is what is looked for by its labels and words: it
// begins, and it has failed and is over.
func BenchmarkRun(b *testing.B) {
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Title, f.Message = "lab", "Lab is overloaded", "It is not you: too many people ask at once. Try again in a minute, or another model."
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			s := open(b, b.TempDir())
			ctx := context.Background()
			var runs atomic.Int64
			spread(b, writers, func(_ int, next func() bool) error {
				for next() {
					n := runs.Add(1)
					run := fmt.Sprint("run", n)
					l, err := s.Begin(ctx, run, "bench", time.Hour, func(timeline.Lease) []recovery.Event {
						return []recovery.Event{{Run: run, Seq: 1, Time: time.Unix(n, 0), Body: recovery.Started{
							Model: "lab/one", Labels: recovery.Labels{"tenant": fmt.Sprint("t", n%50), "team": "search"},
							Input: []llm.Message{llm.User(fmt.Sprintf("Question %d of %x about what is on the table today", n, n*2654435761))},
						}}}
					})
					if err != nil {
						return err
					}
					at := time.Unix(n+1, 0)
					if err = s.Append(ctx, l, 1, recovery.Event{Run: run, Seq: 2, Time: at, Body: recovery.Failed{Attempt: 1, Failure: *f}},
						recovery.Event{Run: run, Seq: 3, Time: at, Body: recovery.Ended{Status: recovery.StatusFailed}}); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
