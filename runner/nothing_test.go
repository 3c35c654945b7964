package runner_test

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/runner"
)

// TestASetThatCouldNotBeMade says so for each of its models, and takes nothing from a model that was
// added beside it.
func TestASetThatCouldNotBeMade(t *testing.T) {
	var none *provider.Set // as of an error of provider.New that was dropped
	own := script(answers("fine"))
	r := runner.New(runner.WithModels(none, "lab/one"), runner.WithModel("mine/two", own))
	if _, err := r.Do(t.Context(), runner.Request{Prompt: "hi"}); err == nil || !strings.Contains(err.Error(), "provider.New") {
		t.Errorf("a model of it: %v", err)
	}
	if result, err := r.Do(t.Context(), runner.Request{Prompt: "hi", Model: "mine/two"}); err != nil || result.Text != "fine" {
		t.Errorf("the other one: %+v, %v", result, err)
	}
}
