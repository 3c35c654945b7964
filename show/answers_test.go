package show

import (
	"bytes"
	"testing"

	"github.com/mulligan-run/mulligan/internal/answers"
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
