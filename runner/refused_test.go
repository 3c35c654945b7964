package runner_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
)

// nativeCall is a call of a conversation in its caller's own words, whose model has thought before.
func nativeCall(r *runner.Runner, session string, thought bool) (runner.Request, *listener) {
	c := &listener{}
	req := callOf(r, c, false)
	req.SessionKey = session
	req.Call.Request.Native = &llm.Native{Wire: "anthropic", Body: []byte("{}")}
	spoke := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "yes?"}}}
	if thought {
		spoke.Parts = append([]llm.Part{{Thinking: &llm.Thinking{Signature: "s"}}}, spoke.Parts...)
	}
	req.Call.Request.Messages = []llm.Message{llm.User("hi"), spoke, llm.User("how warm?")}
	return req, c
}

// refusesFrames is a refusal as an adapter reports it to a caller that sent its own wire's request.
func refusesFrames(status int, detail string) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Status: status}})
		kind := failure.KindInvalidRequest
		if status == http.StatusNotFound {
			kind = failure.KindModelNotFound
		}
		f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		f.HTTPStatus, f.Detail = status, detail
		return f
	}
}

// TestI38HistoryOfAnotherModel: a provider that does not take what another model has left in the
// history is asked once more, and what its conversation was refused for is not told it again.
func TestI38HistoryOfAnotherModel(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		detail  string
		thought bool // there is reasoning to leave out
	}{
		"another's signature": {400, "messages.1.content.0: Invalid `signature` in `thinking` block", true},
		"another's item":      {404, "Item with id 'rs_ABC' not found. Items are not persisted when `store` is set to false.", true},
		"half a pair":         {400, "Item 'rs_ABC' of type 'reasoning' was provided without its required following item.", true},
		"a round without":     {400, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.", false},
	} {
		t.Run(name, func(t *testing.T) {
			model := script(refusesFrames(c.status, c.detail), answers("14 °C"), answers("15 °C"), answers("16 °C"))
			r := runner.New(runner.WithModel(primary, model))
			for i, want := range []string{"14 °C", "15 °C"} {
				req, heard := nativeCall(r, "oslo", c.thought)
				run, err := r.Start(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := run.Wait(t.Context()); err != nil || heard.text != want {
					t.Fatalf("call %d: %q, %v", i, heard.text, err)
				}
			}
			calls := model.calls()
			if len(calls) != 3 || calls[0].Native == nil || calls[1].Native != nil {
				t.Fatalf("asked %d times: %+v", len(calls), calls)
			}
			if remembered := calls[2].Native == nil; remembered != c.thought {
				t.Errorf("what was refused is remembered: %v", remembered)
			}
			req, _ := nativeCall(r, "bergen", c.thought)
			run, err := r.Start(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Wait(t.Context()); err != nil || model.calls()[3].Native == nil {
				t.Errorf("another conversation is not asked for in its own words: %v", err)
			}
		})
	}
}

// TestRefusedInOtherWords: what is refused for another reason, or once more, is not asked again.
func TestRefusedInOtherWords(t *testing.T) {
	for detail, most := range map[string]int{
		"messages.1.content.0.type: Expected `thinking`, but found a `tool_use` block": 2,
		"max_tokens: Field required": 1,
	} {
		model := script(refusesFrames(400, detail))
		r := runner.New(runner.WithModel(primary, model))
		req, _ := nativeCall(r, "oslo", false)
		run, err := r.Start(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err == nil || len(model.calls()) != most {
			t.Errorf("%q: asked %d times: %v", detail, len(model.calls()), err)
		}
	}
}
