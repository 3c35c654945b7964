package history

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// start starts the run with that id, and returns whether that began it. While another client is
// starting the run, the store may say so.
func start(t *testing.T, r *runner.Runner, id string) string {
	t.Helper()
	run, err := r.Start(t.Context(), runner.Request{ID: id, Prompt: "hi"})
	_, exists := errors.AsType[*runner.ExistsError](err)
	switch {
	case exists, errors.Is(err, timeline.ErrOwned):
		return refused
	case err != nil:
		return err.Error()
	}
	t.Cleanup(func() { _, _ = run.Wait(context.Background()) }) // it fails, as it should
	return won
}

func TestI37OneStart(t *testing.T) {
	const runs, callers = 10, 4 // callers of each owner
	everywhere(t, func(t *testing.T, logs []timeline.Log) {
		var runners []*runner.Runner
		for _, log := range logs {
			runners = append(runners, asking(log))
		}
		rec := newRecorder()
		for n := range runs {
			id := fmt.Sprintf("run-%d", n)
			var calling sync.WaitGroup
			for client := range callers * len(runners) {
				calling.Go(func() {
					r := runners[client%len(runners)]
					rec.record(client, id, func() any { return start(t, r, id) })
				})
			}
			calling.Wait()
		}
		rec.want(t, once)
		wantWinners(t, rec, runs)
	})
}

func TestI37FindsADoubleStart(t *testing.T) {
	everywhere(t, func(t *testing.T, logs []timeline.Log) {
		rec := newRecorder()
		rec.record(0, run, func() any { return start(t, asking(logs[0]), run) })
		rec.want(t, once)
		rec.record(1, run, func() any { return start(t, asking(staleLog{logs[1], nil}), run) })
		rec.wantIllegal(t, once)
	})
}
