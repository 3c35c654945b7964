package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/answers"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestAnAnswerIsDrawn: a title is dim at a terminal, and draws nothing itself.
func TestAnAnswerIsDrawn(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, &out)
	s.Ink = true
	r := answers.Result{Run: timeline.Summary{Run: "r1", Title: "Plan \x1b[31mmy week"}, State: answers.Would, Offer: timeline.Offer{Label: "Retry"}}
	if err := s.Answer(r, false); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "r1 would: Retry  \x1b[2mPlan [31mmy week\x1b[0m\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestAnApprovalIsLeftAlone: whoever answers all is told why a run that waits for an approval is not answered.
func TestAnApprovalIsLeftAlone(t *testing.T) {
	var out bytes.Buffer
	var summary timeline.Summary
	summary.Apply(recovery.Event{Run: "r1", Seq: 1, Body: recovery.Suggested{Suggestion: recovery.Suggestion{
		SuggestedAction: recovery.ActionApprove, Error: failure.Failure{Title: "pay waits for your approval"},
	}}})
	for _, r := range []answers.Result{{Run: summary, State: answers.None}, {Run: timeline.Summary{Run: "r2"}, State: answers.None}} {
		if err := New(&out, &out).Answer(r, false); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.HasPrefix(lines[0], "r1 waits for your approval") || lines[1] != "r2 is offered nothing like that, and is left alone" {
		t.Errorf("%q", lines)
	}
}
