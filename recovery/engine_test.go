package recovery_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestACallOfAnEngine: the call belongs to the engine. Once lost it is never made again, even if a
// tool of ours has its name, and no person is offered to repeat it.
func TestACallOfAnEngine(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for by, button := range map[string]bool{"": true, recovery.ByEngine: false} {
		run := &recovery.Run{}
		apply := func(b recovery.Body) {
			t.Helper()
			if err := run.Apply(recovery.Event{Run: "r", Seq: run.Seq + 1, Time: at, Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		// next applies what the heart concludes, and returns what it wants then.
		next := func() recovery.Effect {
			t.Helper()
			for {
				effects := recovery.Next(run)
				if len(effects) == 0 {
					t.Fatalf("by %q: nothing is wanted after event %d", by, run.Seq)
				}
				if effects[0].Record == nil {
					return effects[0]
				}
				apply(effects[0].Record)
			}
		}
		policy := recovery.DefaultPolicy()
		policy.Plugins = []string{"p"}
		safety := recovery.SafetyUnsafe
		if by == recovery.ByEngine {
			safety = recovery.SafetyReadOnly
		}
		apply(recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: policy, Tools: []recovery.ToolDecl{
			{Tool: llm.Tool{Name: "ls"}, Safety: safety},
		}})
		apply(recovery.Claimed{Owner: "a", Epoch: 1})
		apply(next().Call.Intent)
		apply(recovery.Answered{Attempt: 1, By: by, Stop: llm.StopToolUse, Message: llm.Message{
			Role: llm.RoleAssistant, Model: "a/one", Parts: []llm.Part{{Call: &llm.ToolCall{ID: "c1", Name: "ls", Args: []byte("{}")}}},
		}})
		call := next().Tool
		if call == nil || call.Intent.By != by {
			t.Fatalf("by %q: wanted %+v", by, call)
		}
		apply(call.Intent)
		apply(recovery.Claimed{Owner: "b", Epoch: 2}) // and what was in the air is lost
		if ask := next().Ask; ask == nil || run.Open.Failure.Variant != "outcome_unknown" {
			t.Fatalf("by %q: the hook is not asked: %+v", by, run.Open)
		}
		apply(recovery.Voted{Occasion: run.Occasion(), Vote: recovery.Vote{Plugin: "p", Action: recovery.ActionRetry}})
		next()
		offers := slices.ContainsFunc(run.Suggestion.Actions, func(b recovery.Button) bool { return b.Kind == recovery.ButtonRerunTool })
		if offers != button {
			t.Errorf("by %q: offered %+v", by, run.Suggestion.Actions)
		}
	}
}
