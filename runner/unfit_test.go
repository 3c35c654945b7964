package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// able is a model that says what it can take as input.
type able struct {
	*scripted
	takes llm.Capabilities
}

func (a able) Capabilities() llm.Capabilities { return a.takes }

// TestI19UnfitModels: a model that lacks what the conversation uses is no alternative, whatever
// a plugin says, and the failure says why.
func TestI19UnfitModels(t *testing.T) {
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	blind, small := able{script(answers("blind")), llm.Capabilities{NoImages: true}}, able{script(answers("small")), llm.Capabilities{ContextTokens: 100}}
	var asked hooks.RunError
	hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		asked = e
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "b/blind"}, nil
	})
	log := timeline.NewMemory()
	r := runner.New(
		runner.WithModel("a/one", script(fails("", overloaded))), runner.WithModel("b/blind", blind), runner.WithModel("c/small", small),
		runner.WithHook("h", hook), runner.WithAutoRecover(true), runner.WithLog(log),
	)
	run, err := r.Start(t.Context(), runner.Request{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
		{Text: "look"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = run.Wait(t.Context()) // it ends with a suggestion
	if len(asked.Alternatives) > 0 || len(blind.calls())+len(small.calls()) > 0 {
		t.Errorf("%+v are offered", asked.Alternatives)
	}
	events, err := log.Read(t.Context(), run.ID(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	said, ignored := "", ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case recovery.Failed:
			said = b.Failure.Message
		case recovery.Decided:
			ignored = strings.Join(b.Decision.Ignored, " ")
		}
	}
	for _, want := range []string{"b/blind cannot take over: it takes no images.", "c/small cannot take over: it has room for 100 tokens, and the conversation has about 1,601."} {
		if !strings.Contains(said, want) {
			t.Errorf("%q says nothing of %q", said, want)
		}
	}
	if !strings.Contains(ignored, `"b/blind" takes no images`) {
		t.Errorf("ignored: %q", ignored)
	}
}
