package runner_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// slowHealth waits for somebody else before it learns of a failure.
type slowHealth struct {
	*health.Health
	wait time.Duration
}

func (h slowHealth) Failed(model string, f failure.Failure, at time.Time) {
	time.Sleep(h.wait)
	h.Health.Failed(model, f, at)
}

// TestHealthThatWaitsLosesNoRun: while the file of what is known about providers is held by
// another process, a run keeps its lease, and nobody takes it.
func TestHealthThatWaitsLosesNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		overload := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("hello"))), runner.WithLog(renamed{log, "one"}),
			runner.WithHealth(slowHealth{health.New(), time.Minute}), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(10 * time.Second)
			if _, err := log.Claim(t.Context(), run.ID(), "two", time.Minute); !errors.Is(err, timeline.ErrOwned) {
				t.Fatalf("another owner claims the run: %v", err)
			}
		}
		if result, err := run.Wait(); err != nil || result.Text != "hello" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}
