package timeline_test

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestASummaryAsksUntilItsSuggestionExpires: no event has to say that its time is over.
func TestASummaryAsksUntilItsSuggestionExpires(t *testing.T) {
	at := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	var s timeline.Summary
	s.Apply(recovery.Event{Run: "r", Seq: 1, Time: at, Body: recovery.Started{Model: "a/one"}})
	if s.Asks(at) {
		t.Error("a run that goes on asks")
	}
	offer := recovery.Suggestion{ID: "r-s1", SuggestedAction: recovery.ActionRetry, ExpiresAt: at.Add(time.Hour)}
	s.Apply(recovery.Event{Run: "r", Seq: 2, Time: at, Body: recovery.Suggested{Suggestion: offer}})
	for _, c := range []struct {
		after time.Duration
		asks  bool
	}{{0, true}, {time.Hour - 1, true}, {time.Hour, false}, {48 * time.Hour, false}} {
		if got := s.Asks(at.Add(c.after)); got != c.asks {
			t.Errorf("%s after it was made the suggestion asks: %t", c.after, got)
		}
	}
}
