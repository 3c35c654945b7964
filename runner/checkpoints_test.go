package runner_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestCheckpoints: text is kept every 250 ms; the more runs stream at a time, the less
// often that of each, but at least every 2 s; those that have ended do not count.
func TestCheckpoints(t *testing.T) {
	const length = 20 * time.Second
	speaks := func(ctx context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		for range int(length / (50 * time.Millisecond)) {
			hear(llm.Delta{Kind: llm.DeltaText, Text: "word "})
			time.Sleep(50 * time.Millisecond)
		}
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, script(speaks)), runner.WithLog(log))
		for _, step := range []struct {
			runs int
			want time.Duration
		}{{50, 250 * time.Millisecond}, {200, time.Second}, {500, 2 * time.Second}, {1, 250 * time.Millisecond}} {
			var group sync.WaitGroup
			for i := range step.runs {
				id := fmt.Sprint(step.runs, "-", i)
				group.Go(func() {
					run, err := r.Start(t.Context(), runner.Request{ID: id, Prompt: "hi"})
					if err == nil {
						_, err = run.Wait()
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			events, err := log.Read(t.Context(), fmt.Sprint(step.runs, "-0"), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var kept int
			for _, e := range events {
				if _, ok := e.Body.(recovery.Checkpointed); ok {
					kept++
				}
			}
			if want := int(length / step.want); kept < want-2 || kept > want+1 {
				t.Errorf("with %d runs text is kept %d times in %v, not every %v", step.runs, kept, length, step.want)
			}
		}
	})
}
