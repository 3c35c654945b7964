package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestCancelOfAFirstCall: a first call that goes on is soon driven, so that a cancel is heard; and
// a Drain waits for the run from its start.
func TestCancelOfAFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(runner.WithModel(primary, script(stalls("It is"))))
		began := time.Now()
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		now, stop := context.WithCancel(t.Context())
		stop()
		if err := r.Drain(now); !errors.Is(err, context.Canceled) {
			t.Errorf("nothing is driven: %v", err)
		}
		run.Cancel()
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
			t.Errorf("it came to: %v", err)
		}
		if took := time.Since(began); took > 10*time.Millisecond {
			t.Errorf("the cancel was heard after %v", took)
		}
		if err := r.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestShortFirstCall: a first call that is over at once needs no timer of its run, and leaves
// nothing running.
func TestShortFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(runner.WithModel(primary, script(answers("It is sunny."))))
		began := time.Now()
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Status != recovery.StatusCompleted {
			t.Fatalf("it came to %s, %v", result.Status, err)
		}
		if err := r.Drain(t.Context()); err != nil || !time.Now().Equal(began) {
			t.Errorf("it went on for %v, %v", time.Since(began), err)
		}
	})
}
