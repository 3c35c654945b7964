package recovery

import (
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestRunAgain: a person who has a tool run again takes its unknown outcome back.
func TestRunAgain(t *testing.T) {
	w := parseStory(t, "", "policy plugins=p\ntool send_email unsafe lost\nmodel a/one call send_email\nplugin p * retry\n")
	y := newToy(w)
	y.start(t)
	for !y.run.SuggestionOpen() {
		y.step(t)
	}
	said := len(y.run.Messages)
	accepted, err := y.run.Accept("", ButtonRerunTool, "", y.now)
	if err != nil {
		t.Fatal(err)
	}
	y.append(t, accepted)
	effects := Next(y.run)
	if len(effects) == 0 || effects[0].Tool == nil || effects[0].Tool.Intent.Try != 1 || effects[0].Tool.Intent.Key != "r1/1/c1.1" {
		t.Errorf("wanted next: %v", keys(effects))
	}
	if n := len(y.run.Messages); n != said-1 {
		t.Errorf("%d messages, and %d before", n, said)
	}
	for !y.run.SuggestionOpen() { // it is lost again
		y.step(t)
	}
	if y.run.Suggestion.ID == accepted.Suggestion || y.run.Suggestion.Error.Variant != failure.VariantUnknownOutcome {
		t.Errorf("asked next: %+v", y.run.Suggestion)
	}
}
