package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestTheCallersOwnWords: what a caller calls its conversation and its agent is passed to
// plugins as it is, also in a process that takes the run over, and refused where it cannot be.
func TestTheCallersOwnWords(t *testing.T) {
	var asked hooks.RunError
	hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		asked = e
		return recovery.Vote{Action: recovery.ActionFail}, nil
	})
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	r := runner.New(runner.WithModel("a/one", script(fails("", overloaded))), runner.WithHook("h", hook))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", SessionKey: "agent:main:discord:7", AgentID: "main"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = run.Wait(t.Context())
	if asked.SessionKey != "agent:main:discord:7" || asked.AgentID != "main" || asked.Session != "" {
		t.Errorf("%+v", asked)
	}
	for _, name := range []string{strings.Repeat("x", 513), "\xff"} {
		if _, err := r.Start(t.Context(), runner.Request{Prompt: "hi", AgentID: name}); err == nil {
			t.Errorf("%.20q is taken", name)
		}
	}
}
