package runner_test

import (
	"errors"
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
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
