package runner_test

import (
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/runner"
)

// TestAModelThatDoesNotListen: three answers in a row that only call tools that do not exist are
// answered with an error; the fourth is malformed.
func TestAModelThatDoesNotListen(t *testing.T) {
	astray := callsTool("c", "no_such_tool", "{}")
	model := script(astray)
	_, err := runner.New(runner.WithModel(primary, model)).Run(t.Context(), "hi")
	wantError(t, err, failure.KindMalformedResponse)
	if n := len(model.calls()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
	text, err := runner.New(runner.WithModel(primary, script(astray, astray, astray, answers("sorry")))).Run(t.Context(), "hi")
	if err != nil || text != "sorry" {
		t.Errorf("got %q, %v", text, err)
	}
}
