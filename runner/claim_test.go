package runner_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestI18OfManyAnswersOneCounts: of many who answer a suggestion through one Runner one
// goes on with the run, and the others are told that it was answered.
func TestI18OfManyAnswersOneCounts(t *testing.T) {
	for range 20 {
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithHook("h", advise(retryNow)))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Wait(t.Context())
		s := wantError(t, err, overload.Kind).Suggestion
		var won atomic.Int32
		var calling sync.WaitGroup
		for range 8 {
			calling.Go(func() {
				again, err := r.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: s.ID, Action: recovery.ButtonRetry})
				switch {
				case err == nil:
					won.Add(1)
					if _, err := again.Wait(t.Context()); err != nil {
						t.Error(err)
					}
				case !errors.Is(err, recovery.ErrAnswered):
					t.Errorf("another was told: %v", err)
				}
			})
		}
		calling.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d answers counted", won.Load())
		}
	}
}
