package runner_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestToolError: a hook that takes tool_error is asked about a tool that failed before the model is
// told; the same call is made again where the tool may run twice, and never where it may not.
func TestToolError(t *testing.T) {
	for name, c := range map[string]struct {
		safety recovery.Safety
		say    func(hooks.ToolError) recovery.Vote
		broken bool
		ran    int
		told   string
	}{
		"again":       {recovery.SafetyIdempotent, func(hooks.ToolError) recovery.Vote { return recovery.Vote{Action: recovery.ActionRetry, Delay: 5000} }, false, 2, "sunny"},
		"never twice": {recovery.SafetyUnsafe, func(hooks.ToolError) recovery.Vote { return recovery.Vote{Action: recovery.ActionRetry} }, false, 1, "no answer"},
		"other words": {recovery.SafetyUnsafe, func(hooks.ToolError) recovery.Vote {
			return recovery.Vote{Action: recovery.ActionTell, Words: "Ask tomorrow."}
		}, false, 1, "Ask tomorrow."},
		"no opinion":       {recovery.SafetyReadOnly, func(hooks.ToolError) recovery.Vote { return recovery.Vote{} }, false, 1, "no answer"},
		"the hook is lost": {recovery.SafetyReadOnly, func(hooks.ToolError) recovery.Vote { return recovery.Vote{} }, true, 1, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := script(callsTool("c1", "weather", `{}`), answers("done"))
				var keys []string
				tool := runner.Tool{Name: "weather", Safety: c.safety, Run: func(_ context.Context, call runner.ToolCall) (string, error) {
					keys = append(keys, call.IdempotencyKey)
					if len(keys) == 1 {
						return "", errors.New("no answer")
					}
					return "sunny", nil
				}}
				hook := &occasional{say: func(about hooks.Occasion) (recovery.Vote, error) {
					if c.broken {
						return recovery.Vote{}, errors.New("boom")
					}
					e, ok := about.(hooks.ToolError)
					if !ok || e.Tool != "weather" || e.Tries != 1 || e.Failures != 1 || e.Model != "a/one" || e.Round != 1 {
						t.Errorf("it is asked about %+v", about)
					}
					return c.say(e), nil
				}}
				r := runner.New(runner.WithModel("a/one", model), runner.WithTools(tool), runner.WithHook("p", hook, recovery.HookToolError), runner.WithAutoRecover(true))
				if text, err := r.Run(t.Context(), "how is the weather?"); err != nil || text != "done" {
					t.Fatal(text, err)
				}
				last := model.calls()[1].Messages
				result := last[len(last)-1].Parts[0].Result
				if len(keys) != c.ran || len(slices.Compact(keys)) != 1 || result.Text != c.told {
					t.Errorf("it ran under %q, and the model is told %q", keys, result.Text)
				}
			})
		})
	}
}

// TestToolErrorIsNotAskedFor: arguments that do not fit, and tools that there are not, are the model's
// mistakes; a run whose request names other plugins asks none of these.
func TestToolErrorIsNotAskedFor(t *testing.T) {
	hook := &occasional{say: func(about hooks.Occasion) (recovery.Vote, error) {
		t.Errorf("it is asked about %+v", about)
		return recovery.Vote{}, nil
	}}
	tool := runner.Tool{
		Name: "weather", Schema: []byte(`{"type":"object","required":["city"]}`),
		Run: func(context.Context, runner.ToolCall) (string, error) { return "", errors.New("no answer") },
	}
	model := script(callsTool("c1", "weather", `{}`), callsTool("c2", "clock", `{}`), answers("done"))
	r := runner.New(runner.WithModel("a/one", model), runner.WithTools(tool), runner.WithHook("p", hook, recovery.HookToolError))
	if text, err := r.Run(t.Context(), "hi"); err != nil || text != "done" {
		t.Error(text, err)
	}
	model = script(callsTool("c1", "weather", `{"city":"Köln"}`), answers("done"))
	r = runner.New(runner.WithModel("a/one", model), runner.WithTools(tool), runner.WithHook("p", hook, recovery.HookToolError))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Plugins: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(t.Context()); err != nil || result.Text != "done" {
		t.Error(result, err)
	}
}

// TestWhatAHookIsToldOfModels: cooldowns, health and the last calls of an entry, of all runs.
func TestWhatAHookIsToldOfModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := script(fails("", failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)))
		var told hooks.RunError
		hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
			told = e
			return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "b/two"}, nil
		})
		r := runner.New(runner.WithModel("a/one", one), runner.WithModel("b/two", script(answers("from two"))), runner.WithHook("p", hook), runner.WithAutoRecover(true))
		for range 2 {
			run, err := r.Start(t.Context(), runner.Request{Prompt: "how is the weather?", Model: "a/one", Labels: recovery.Labels{"team": "blue"}})
			if err != nil {
				t.Fatal(err)
			}
			if result, err := run.Wait(t.Context()); err != nil || result.Text != "from two" {
				t.Fatal(result, err)
			}
			time.Sleep(time.Second)
		}
		kinds := []failure.Kind{failure.KindOverloaded}
		if told.Labels["team"] != "blue" || !slices.Equal(told.FailedKinds, kinds) || told.InputTokens == 0 || told.About.Health != "failing" ||
			told.About.CoolingKind != failure.KindOverloaded || !told.About.CoolsUntil.After(told.Time) || told.Alternatives[0].Health != "well" {
			t.Errorf("%+v", told)
		}
		if len(told.RecentCalls) != 2 || told.RecentCalls[1].Kind != failure.KindOverloaded || told.RecentCalls[0].Model != "a/one" {
			t.Errorf("%+v", told.RecentCalls)
		}
	})
}
