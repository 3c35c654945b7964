package runner_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestOnSettled: what was asked for is called once with the outcome, before whoever waits for the
// run goes on; immediately if the run has settled.
func TestOnSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan struct{})
		run, err := runner.New(runner.WithModel(primary, script(func(ctx context.Context, hear func(llm.Delta) bool) error {
			<-said
			return answers("fine")(ctx, hear)
		}))).Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		tell := func(who string) {
			run.OnSettled(func(result runner.Result, err error) {
				if result.Status != recovery.StatusCompleted || result.Text != "fine" || err != nil {
					t.Errorf("%s is told %+v, %v", who, result, err)
				}
				told = append(told, who)
			})
		}
		tell("first")
		tell("second")
		synctest.Wait()
		if len(told) > 0 {
			t.Errorf("%v were told before the run had settled", told)
		}
		close(said)
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, []string{"first", "second"}) {
			t.Errorf("when the run had settled, %v had been told", told)
		}
		if tell("late"); !slices.Equal(told, []string{"first", "second", "late"}) {
			t.Errorf("afterwards %v had been told", told)
		}
	})
}
