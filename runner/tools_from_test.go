package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// A list of tools that changes in the middle of a run applies to the next run.
func TestToolsFromAreARunsOwn(t *testing.T) {
	says := func(name, text string) runner.Tool {
		return runner.Tool{Name: name, Safety: recovery.SafetyReadOnly, Run: func(context.Context, runner.ToolCall) (string, error) { return text, nil }}
	}
	tools := []runner.Tool{says("old", "old")}
	swaps := func(ctx context.Context, hear func(llm.Delta) bool) error {
		tools = []runner.Tool{says("new", "new")}
		return callsTool("c1", "old", "{}")(ctx, hear)
	}
	model := script(swaps, answers("first"), answers("second"))
	r := runner.New(runner.WithModel(primary, model), runner.WithTools(says("mine", "")), runner.WithToolsFrom(func() []runner.Tool { return tools }))
	for _, want := range []string{"first", "second"} {
		if text, err := r.Run(t.Context(), "hi"); err != nil || text != want {
			t.Fatal(text, err)
		}
	}
	var err error
	calls := model.calls()
	for i, want := range []string{"old", "old", "new"} {
		if names := calls[i].Tools; len(names) != 2 || names[0].Name != "mine" || names[1].Name != want {
			err = errors.Join(err, errors.New(names[1].Name))
		}
	}
	last := calls[1].Messages[len(calls[1].Messages)-1]
	if result := last.Parts[0].Result; err != nil || result == nil || result.IsError || result.Text != "old" {
		t.Errorf("%v, the call gave %+v", err, result)
	}
}
