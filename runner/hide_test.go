package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

const canary = "canary-0123456789"

// redactingModels is a model list with one model, which redacts a secret.
type redactingModels struct{ model llm.Model }

func (d redactingModels) Model(string) (llm.Model, error) {
	return llm.ModelFunc(func(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
		request.OnHeaders(llm.Headers{Sent: []llm.Header{{Name: "X-Api-Key"}}, Received: []llm.Header{{Name: "Server", Value: "of " + canary}}})
		return d.model.Stream(ctx, request)
	}), nil
}
func (redactingModels) Has(string) bool                      { return true }
func (redactingModels) Capabilities(string) llm.Capabilities { return llm.Capabilities{} }
func (redactingModels) Redact(text string) string {
	return strings.ReplaceAll(text, canary, "[redacted]")
}

// TestNothingWrittenHoldsASecret has everybody say one: a person, a tool, a model's error and
// a plugin.
func TestNothingWrittenHoldsASecret(t *testing.T) {
	broken := failure.NewFailure(failure.KindUnavailable, failure.OriginModel, failure.PhaseMidStream, errors.New("x"))
	broken.Detail, broken.Message, broken.ProviderCode, broken.RequestID = "with "+canary, "with "+canary, canary, canary
	tools := []runner.Tool{
		{Name: "env", Run: func(context.Context, runner.ToolCall) (string, error) { return "KEY=" + canary, nil }},
		{Name: "bad", Run: func(context.Context, runner.ToolCall) (string, error) { return "", errors.New("no " + canary) }},
	}
	var told []byte
	hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		told, _ = json.Marshal(e)
		return recovery.Vote{
			Action: recovery.ActionRetry, Reason: "since " + canary, Delay: failure.InMillis(time.Millisecond),
			Actions: []recovery.Button{{Kind: "runbook", Label: "see " + canary, URL: "https://runbook.example/" + canary}},
		}, nil
	})
	log := timeline.NewMemory()
	model := script(callsTool("c1", "env", `{}`), callsTool("c2", "bad", `{}`), fails("so", broken), answers("done"))
	r := runner.New(runner.WithModels(redactingModels{model}, primary), runner.WithTools(tools...), runner.WithAutoRecover(true), runner.WithHook("h", hook), runner.WithLog(log))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "my key is " + canary, System: "it is " + canary, SessionKey: "of " + canary, AgentID: canary})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, _ := stored(t, log, run.ID())
	text, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text)+string(told), canary) || strings.Count(string(text), "[redacted]") < 10 {
		t.Errorf("S14: told %s\nwritten %s", told, text)
	}
	if strings.Count(string(text), `"headers":{"sent":[{"name":"X-Api-Key"}],"received":[{"name":"Server","value":"of [redacted]"}]}`) != 1 || strings.Contains(string(told), "X-Api-Key") {
		t.Errorf("the headers are of the attempt that failed, and no plugin's: told %s\nwritten %s", told, text)
	}
	for _, asked := range model.calls() {
		if said, _ := json.Marshal(asked); strings.Contains(string(said), canary) {
			t.Errorf("S14: asked %s", said)
		}
	}
}

// TestAnEmbeddersFailureIsDescribed: one that has a kind and no words gets those of its kind.
func TestAnEmbeddersFailureIsDescribed(t *testing.T) {
	for _, own := range []*failure.Failure{
		failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, errors.New("full")),
		{Kind: failure.KindOverloaded},
	} {
		_, err := runner.New(runner.WithModel(primary, script(fails("", own)))).Run(t.Context(), "hi")
		f := wantError(t, err, failure.KindOverloaded).Failure
		if f.Title == "" || f.Message == "" || f.Code != failure.KindOverloaded.Code() {
			t.Errorf("%+v", f)
		}
	}
}
