package recovery

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// handOver has the owner of a run let go of it in mid-answer, in good order or as one that is killed,
// and another one go on until the model is asked again, or nothing more happens by itself.
func handOver(t *testing.T, y *toy, w *world, inOrder bool) *toy {
	t.Helper()
	y.saved = "half of it"
	if inOrder {
		y.append(t, y.facts(y.run.HandOver(y.now.Add(time.Second))))
	}
	y = resume(t, w, y.log)
	y.until(t, func() bool { return midAnswer(y.run) })
	return y
}

// until goes on until something is so, a person is asked, or nothing more happens.
func (y *toy) until(t *testing.T, is func() bool) {
	t.Helper()
	for !is() && !y.run.SuggestionOpen() && y.step(t) {
	}
}

func midAnswer(r *Run) bool { return r.Attempt != nil && r.Attempt.State == AttemptInAir }

// inMidAnswer is a run whose model is answering for the first time, and its world.
func inMidAnswer(t *testing.T, policy string) (*toy, *world) {
	t.Helper()
	w := parseStory(t, "handed over", "policy "+policy+"\nplugin p * retry\nmodel a/one answer Done.\n")
	y := newToy(w)
	y.start(t)
	y.until(t, func() bool { return midAnswer(y.run) })
	return y, w
}

// TestI25HandedOverInGoodOrder: nobody is asked because processes were replaced, up to the limit on the
// attempts of a model call; each replacement is an attempt, and no retry.
func TestI25HandedOverInGoodOrder(t *testing.T) {
	for _, policy := range []string{"auto plugins=p", "auto plugins=p retries=0"} {
		y, w := inMidAnswer(t, policy)
		for n := 1; n < MaxAttemptsPerCall; n++ {
			if y = handOver(t, y, w, true); !midAnswer(y.run) || y.run.Crashes != 0 || y.run.Call.Retries != 0 || y.run.Call.Attempts != n+1 {
				t.Fatalf("%s: handed over %d times: %d crashes, %+v\n%s", policy, n, y.run.Crashes, y.run.Call, y.tail())
			}
		}
		last := handOver(t, y, w, true)
		if !last.run.SuggestionOpen() || last.run.Suggestion.BlockedBy != blockedAttempts {
			t.Errorf("%s: handed over once more, and nobody is asked:\n%s", policy, last.tail())
		}
	}
}

// TestI25KilledAllTheSame: hand-overs between them do not make interruptions fewer.
func TestI25KilledAllTheSame(t *testing.T) {
	y, w := inMidAnswer(t, "auto plugins=p retries=6")
	for n := range 2*MaxInterruptedCrashes - 1 {
		if !midAnswer(y.run) {
			t.Fatalf("after %d interruptions nothing goes on:\n%s", n, y.tail())
		}
		y = handOver(t, y, w, n%2 == 1)
	}
	if y.run.Crashes != MaxInterruptedCrashes || !y.run.SuggestionOpen() || y.run.Suggestion.BlockedBy != blockedCrashes {
		t.Errorf("killed %d times:\n%s", y.run.Crashes, y.tail())
	}
}

// TestHandedOverIsTheOwnersWord: a model, or whoever else describes a failure, cannot say that of itself.
func TestHandedOverIsTheOwnersWord(t *testing.T) {
	y, _ := inMidAnswer(t, "auto plugins=p")
	f := y.run.HandOver(y.now)
	f.Cause = CauseAttempt
	if y.append(t, f); y.run.Crashes != 1 {
		t.Errorf("%d interruptions", y.run.Crashes)
	}
}

// TestHandedOverWords: people read what happened, keep the partial answer, and read that the run goes on.
func TestHandedOverWords(t *testing.T) {
	y, w := inMidAnswer(t, "auto plugins=p")
	f := y.run.HandOver(y.now)
	if line := Line(y.run, f); line != "The run was handed over. The program was told to stop, as at a restart, while a was answering. Everything finished before is kept." {
		t.Errorf("%q", line)
	}
	y.saved = "half of it"
	y.append(t, y.facts(f))
	if y.run.Answer() != "half of it" || y.run.Open.Failure.Kind != failure.KindInterrupted {
		t.Errorf("%q, %+v", y.run.Answer(), y.run.Open)
	}
	y = resume(t, w, y.log)
	y.until(t, func() bool { return y.run.Open.Decision != nil })
	began := Next(y.run)[0].Call.Intent
	if line := Line(y.run, began); line != "The run goes on after it was handed over." || began.Withdraws != 1 {
		t.Errorf("%q, %+v", line, began)
	}
}

// TestASecondCallIsHandedOver: an answer that was cut is asked for again by the next owner, and again, until
// too many attempts of the run have failed.
func TestASecondCallIsHandedOver(t *testing.T) {
	w := parseStory(t, "cut", "policy auto plugins=p\nplugin p * retry\nmodel a/one cut Don\nmodel a/one answer Done.\n")
	y := newToy(w)
	y.start(t)
	times := 0
	for ; times <= 2*MaxFailedAttempts && y.run.End == nil; times++ {
		y.until(t, y.run.againInAir)
		if !y.run.againInAir() {
			break
		}
		y.append(t, y.facts(y.run.HandOver(y.now)))
		y = resume(t, w, y.log)
	}
	if times != MaxFailedAttempts || y.run.Crashes != 0 || y.run.Status != StatusCompleted || y.run.Answer() != "Don" {
		t.Errorf("handed over %d times: %s, %d crashes, %q", times, y.run.Status, y.run.Crashes, y.run.Answer())
	}
}

// deployed has the attempt in the air be handed over to another process, if it is one of the first.
func (y *toy) deployed(t tb) bool {
	t.Helper()
	if !midAnswer(y.run) || y.run.Attempt.ID > y.w.deploys {
		return false
	}
	y.now = y.run.Attempt.BeganAt.Add(time.Second)
	y.append(t, y.facts(y.run.Saying(y.run.HandOver(y.now), "partial of "+y.run.Attempt.Model)))
	y.append(t, Claimed{Owner: "o2", Epoch: y.run.Epoch + 1})
	return true
}
