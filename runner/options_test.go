package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestOptionsOfNil: an option that is given nil leaves its default, and breaks no run.
func TestOptionsOfNil(t *testing.T) {
	for name, option := range map[string]runner.Option{
		"policy": runner.WithPolicy(nil), "hook": runner.WithHook("none", nil), "hooks": runner.WithHooks(nil), "func": runner.WithHook("none", hooks.Func(nil)),
		"tools": runner.WithToolsFrom(nil), "log": runner.WithLog(nil), "health": runner.WithHealth(nil),
		"classifier": runner.WithClassifier(nil), "logger": runner.WithLogger(nil), "timeouts": runner.WithTimeoutsFor(nil),
		"connectivity": runner.WithConnectivity(nil), "clock": runner.WithClock(nil), "sleep": runner.WithSleep(nil), "observer": runner.WithObserver(nil),
	} {
		t.Run(name, func(t *testing.T) {
			r := runner.New(runner.WithModel("lab/one", script(fails("", errors.New("529 overloaded")))), option)
			if _, err := r.Run(t.Context(), "Hello"); err == nil {
				t.Error("it was answered")
			}
		})
	}
}

// TestModelsOfNil: who has no models is told so.
func TestModelsOfNil(t *testing.T) {
	for want, option := range map[string]runner.Option{
		`start run: model "lab/one" is not known; there are: none`: runner.WithModels(nil, "lab/one"),
		`start run: model "lab/one" was added as nil`:              runner.WithModel("lab/one", nil),
	} {
		if _, err := runner.New(option).Run(t.Context(), "Hello"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// secretive are models that know a secret.
type secretive struct{ runner.Models }

func (secretive) Has(name string) bool                        { return name == "lab/one" }
func (secretive) Capabilities(string) (none llm.Capabilities) { return none }
func (secretive) Model(string) (llm.Model, error) {
	return script(fails("", errors.New("529 overloaded"))), nil
}

func (secretive) Redact(text string) string { return strings.ReplaceAll(text, "sesame", "[hidden]") }

// TestModelBesideModels: a model of one's own is added to those of a provider, which stay what they
// are, and keep their secrets.
func TestModelBesideModels(t *testing.T) {
	switches := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "mine/two"}, nil
	})
	own := script(answers("A second shot."))
	r := runner.New(runner.WithModels(secretive{}, "lab/one"), runner.WithModel("mine/two", own),
		runner.WithAutoRecover(true), runner.WithHook("switches", switches))
	result, err := r.Do(t.Context(), runner.Request{Prompt: "Open sesame"})
	if err != nil || result.Text != "A second shot." || result.Model != "mine/two" {
		t.Fatalf("%q of %s, %v", result.Text, result.Model, err)
	}
	if said := result.State.Messages[0].Text(); said != "Open [hidden]" {
		t.Errorf("kept: %s", said)
	}
}

// TestHooksThatAreNeverAsked: a hook of an occasion that there is not, and one under another's name,
// are refused when a run begins.
func TestHooksThatAreNeverAsked(t *testing.T) {
	hook := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) { return recovery.Vote{}, nil })
	for want, options := range map[string][]runner.Option{
		`there is no occasion "run_eror"`: {runner.WithHook("mine", hook, "run_eror")},
		`two hooks are called "mine"`:     {runner.WithHook("mine", hook), runner.WithHook("mine", hook, recovery.HookBeforeCall, recovery.HookRunError)},
		"":                                {runner.WithHook("mine", hook), runner.WithHook("mine", hook, recovery.HookBeforeCall)},
	} {
		r := runner.New(append(options, runner.WithModel("lab/one", script(answers("A second shot."))))...)
		_, err := r.Run(t.Context(), "Hello")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestHooksOfOneName: two of them that take different occasions are each asked about their own.
func TestHooksOfOneName(t *testing.T) {
	allow := func(hooks.Occasion) (recovery.Vote, error) { return recovery.Vote{Action: recovery.ActionAllow}, nil }
	ofFailures, beforeCalls := &occasional{say: allow}, &occasional{say: allow}
	r := runner.New(runner.WithModel(primary, script(answers("fine"))),
		runner.WithHook("mine", ofFailures), runner.WithHook("mine", beforeCalls, recovery.HookBeforeCall))
	if _, err := r.Run(t.Context(), "Hello"); err != nil {
		t.Fatal(err)
	}
	if n, m := len(beforeCalls.about()), len(ofFailures.about()); n != 1 || m != 0 {
		t.Errorf("about a call, that hook was asked %d times, and the one for failures %d times", n, m)
	}
}
