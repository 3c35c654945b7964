package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestCancelRightAfterTheIntent: who cancels a run as soon as they see that an attempt
// begins, ends it, although the attempt has not begun yet.
func TestCancelRightAfterTheIntent(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			r := runner.New(runner.WithModel(primary, script(stalls("It is"))))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			run, err := r.Start(ctx, runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			for item := range run.Events() {
				if item.Event == nil {
					continue
				}
				if _, begins := item.Event.Body.(recovery.Began); begins {
					cancel()
				}
			}
			if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
				t.Fatalf("it came to: %v", err)
			}
		})
	}
}
