package recovery

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// TestAnOlderApprovalIsAnswered: in logs of earlier versions a failure comes before the suggestion,
// and what a person answers is done all the same.
func TestAnOlderApprovalIsAnswered(t *testing.T) {
	call := llm.ToolCall{ID: "c1", Name: "pay", Args: []byte(`{}`)}
	asked := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}}
	tool := ToolDecl{Tool: llm.Tool{Name: "pay"}, Approval: true}
	var at time.Time
	var events []Event
	for _, b := range []Body{
		Started{Model: "a/one", Tools: []ToolDecl{tool}, Policy: Policy{MaxRetries: 3, MaxRounds: 9, Models: []string{"a/one"}}},
		Claimed{Owner: "o", Epoch: 1},
		Began{Attempt: 1, Round: 1, Model: "a/one"},
		Answered{Attempt: 1, Message: asked},
		Failed{CallID: "c1", Failure: failure.Failure{Kind: failure.KindToolFailure, Variant: "approval", Tool: "pay"}, Cause: CauseApproval},
		Suggested{Suggestion: Suggestion{
			SuggestedAction: ActionRetry, ID: "s", ExpiresAt: at.Add(time.Hour),
			Actions: []Button{{ID: "a1", Kind: ButtonRunTool, Effect: EffectRunner}, {ID: "a2", Kind: ButtonStop, Effect: EffectRunner}},
		}},
		Accepted{Suggestion: "s", Action: "a1"},
	} {
		events = append(events, Event{Run: "r", Seq: uint64(len(events) + 1), Time: at, Body: b})
	}
	run, err := Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	if next := Next(run); len(next) == 0 || next[0].Tool == nil {
		t.Errorf("it goes on with %+v", next)
	}
}
