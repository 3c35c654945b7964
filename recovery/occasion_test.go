package recovery

import (
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestAPressIsAnOccasionOfItsOwn: votes from before a person pressed a plugin's button do not count
// or decide afterwards, however late they come.
func TestAPressIsAnOccasionOfItsOwn(t *testing.T) {
	run := &Run{Open: &OpenFailure{Seq: 12, Failure: failure.Failure{Kind: failure.KindOverloaded}}}
	before := run.Occasion()
	if before != "run_error/12" || before.Hook() != HookRunError {
		t.Fatalf("the occasion is %q of %q", before, before.Hook())
	}
	run.decided(Decided{Occasion: before, Decision: Decision{Action: ActionFail, By: &Voter{Plugin: "p"}}})
	if now := run.Occasion(); now != "" {
		t.Errorf("advice is wanted about %q once it is decided", now)
	}
	run.pressed(Event{}, Accepted{}, Button{Kind: "p/again"})
	pressed := run.Occasion()
	if pressed != "run_error/12/1" || pressed.Hook() != HookRunError {
		t.Fatalf("the press is %q of %q", pressed, pressed.Hook())
	}
	run.voted(Voted{Occasion: before, Vote: Vote{Plugin: "p", Action: ActionRetry}})
	run.decided(Decided{Occasion: before, Decision: Decision{Action: ActionRetry}})
	if run.Occasion() != pressed || len(run.Open.Votes) > 0 || run.Open.Accepted {
		t.Errorf("what was said before counts: %+v", run.Open)
	}
	run.voted(Voted{Occasion: pressed, Vote: Vote{Plugin: "p", Action: ActionRetry}})
	run.decided(Decided{Occasion: pressed, Decision: Decision{Action: ActionRetry}})
	if run.Occasion() != "" || len(run.Open.Votes) != 1 || !run.Open.Accepted {
		t.Errorf("what is said of the press does not count: %+v", run.Open)
	}
}
