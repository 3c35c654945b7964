package runner_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mulligan-run/mulligan/runner"
)

// TestI37TheSameIDIsTheSameRun: of many who begin a run of one id, one does.
func TestI37TheSameIDIsTheSameRun(t *testing.T) {
	model := script(answers("ok"))
	r := runner.New(runner.WithModel(primary, model))
	var begun atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			run, err := r.Start(t.Context(), runner.Request{ID: "mine-1", Fingerprint: "f", Prompt: "hi"})
			if exists, ok := errors.AsType[*runner.ExistsError](err); ok {
				if exists.Run != "mine-1" || exists.Fingerprint != "f" {
					t.Errorf("%+v", exists)
				}
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			begun.Add(1)
			if result, err := run.Wait(t.Context()); err != nil || result.Run != "mine-1" {
				t.Errorf("got %+v, %v", result, err)
			}
		})
	}
	wg.Wait()
	if begun.Load() != 1 || len(model.calls()) != 1 {
		t.Errorf("%d runs, %d requests", begun.Load(), len(model.calls()))
	}
	for _, id := range []string{"Mine", "../x", "a b"} {
		if _, err := r.Start(t.Context(), runner.Request{ID: id, Prompt: "hi"}); err == nil {
			t.Errorf("the id %q was taken", id)
		}
	}
}
