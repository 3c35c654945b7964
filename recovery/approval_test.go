package recovery

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
)

// TestNoCallBeginsWithoutApproval plays runs in which anything fails: a call of a tool that needs
// approval begins only if a person pressed the button about that call.
func TestNoCallBeginsWithoutApproval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)()
		needs, given := map[string]bool{}, map[string]bool{}
		for i := range w.start.Tools {
			w.start.Tools[i].Approval = rapid.Bool().Draw(t, "approval")
			needs[w.start.Tools[i].Name] = w.start.Tools[i].Approval
		}
		y := newToy(w)
		y.check = func(before *Run, e Event, _ *Run) {
			switch b := e.Body.(type) {
			case Accepted:
				if before.Open != nil && before.SuggestionOpen() {
					button, _ := before.Suggestion.Button(b.Action)
					given[before.Open.CallID] = button.Kind == ButtonRunTool
				}
			case ToolBegan:
				if needs[b.Name] && !given[b.CallID] {
					t.Fatalf("%s begins, which nobody approved", b.CallID)
				}
			}
		}
		y.start(t)
		y.loop(t)
		oneEnd(t, y)
	})
}

// TestAnApprovalGrantsNoAttempts: it is not a further attempt of a model call.
func TestAnApprovalGrantsNoAttempts(t *testing.T) {
	y := play(t, stories(t)["approval"]())
	if y.run.Granted != 0 || y.run.Status != StatusCompleted {
		t.Errorf("the run is %s, with %d attempts granted", y.run.Status, y.run.Granted)
	}
}

// TestAnEngineAsksItself: the tools of an engine are not ours to hold, whatever they are called.
func TestAnEngineAsksItself(t *testing.T) {
	r := &Run{Tools: []ToolDecl{{Approval: true}}}
	r.Tools[0].Name = "pay"
	r.want(llm.ToolCall{Name: "pay"}, ByEngine)
	r.want(llm.ToolCall{Name: "pay"}, "")
	if got := r.Pending[0].Approval; got != approvalNotNeeded {
		t.Errorf("a call of an engine: %q", got)
	}
	if got := r.Pending[1].Approval; got != approvalWanted {
		t.Errorf("a call of ours: %q", got)
	}
}
