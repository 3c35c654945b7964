package gateway

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestAnApprovalIsNoFailure: a run that asks for an approval has no error in its document and no kind
// in a list, and both say what is to be approved.
func TestAnApprovalIsNoFailure(t *testing.T) {
	at := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	s := recovery.Suggestion{
		SuggestedAction: recovery.ActionApprove, ID: "s", ExpiresAt: at.Add(time.Hour), Title: "pay waits for your approval",
		Actions: []recovery.Button{{ID: "a1", Kind: recovery.ButtonRunTool, Label: "Run pay", Effect: recovery.EffectRunner}},
	}
	s.Error.Kind, s.Error.Title = recovery.KindApproval, s.Title
	run, summary := &recovery.Run{}, timeline.Summary{}
	for i, b := range []recovery.Body{recovery.Started{Model: "a/one"}, recovery.Suggested{CallID: "c1", Suggestion: s}} {
		e := recovery.Event{Run: "r", Seq: uint64(i + 1), Time: at, Body: b}
		summary.Apply(e)
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	v := view(run, at)
	if card := v.Situation.Stages[0].Card; v.Error != nil || v.Meta.RecoverySuggestion == nil || card == nil || !card.Approval {
		t.Errorf("the document: error %v, suggestion %v, card %+v", v.Error, v.Meta.RecoverySuggestion, card)
	}
	if l := listed(summary, at); !l.Approval || l.Kind != "" || l.Problem != s.Title || l.Failed != 0 {
		t.Errorf("the list: %+v", l)
	}
	if l := listed(summary, at.Add(2*time.Hour)); l.Approval {
		t.Errorf("its time is over, and the list says %+v", l)
	}
}
