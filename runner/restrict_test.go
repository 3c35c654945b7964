package runner_test

import (
	"context"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestI60StaysOnThisMachine: a plugin that comes later in the order forbids what an earlier one
// advises, by what the models say of themselves.
func TestI60StaysOnThisMachine(t *testing.T) {
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	far, here := script(answers("far")), able{script(answers("here")), llm.Capabilities{Local: true}}
	outwards := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "b/far"}, nil
	})
	homewards := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		vote := recovery.Vote{Restrict: &recovery.Restrict{Local: true}}
		for _, a := range e.Alternatives {
			if a.Local {
				vote.Action, vote.NewModel = recovery.ActionSwitchModel, a.Model
			}
		}
		return vote, nil
	})
	r := runner.New(
		runner.WithModel("a/one", script(fails("", overloaded))), runner.WithModel("b/far", far), runner.WithModel("c/here", here),
		runner.WithHook("outwards", outwards), runner.WithHook("homewards", homewards), runner.WithAutoRecover(true),
	)
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	if err != nil || result.Text != "here" || len(far.calls()) > 0 {
		t.Errorf("%+v, %v; %d calls of the other one", result, err, len(far.calls()))
	}
}
