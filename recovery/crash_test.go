package recovery

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// TestCrashBeforeEveryEvent is the house's central test: stop before every single
// event of every story, resume from the log, and get the same outcome within the
// same budgets. An interruption is a failure of its own, so where nobody may act
// on one (no plugin, or one that says fail) it ends the run as any failure does.
func TestCrashBeforeEveryEvent(t *testing.T) {
	for name, story := range stories(t) {
		t.Run(name, func(t *testing.T) {
			crashEverywhere(t, story)
		})
	}
}

// crashEverywhere stops story after each prefix of its log. Where the prefix ends
// in a tool's intent it does so twice: the tool's effect may have happened or not; and so may
// what an attempt in the air had said have been saved. Such an attempt is also handed over.
func crashEverywhere(t tb, story func() *world) {
	t.Helper()
	whole := play(t, story())
	for n := 1; n < len(whole.log); n++ {
		for _, how := range []stopping{{happened: true}, {happened: false}, {happened: true, inOrder: true}} {
			w := story()
			w.journal = journalOf(whole.told[:n], how.happened)
			log := whole.log[:n]
			if how.inOrder {
				log = handedOver(t, w, log)
			}
			y := resume(t, w, log)
			if how.happened {
				y.saved = "half of it"
			}
			finished := finishedTools(y.run)
			before := map[string]int{}
			for _, id := range finished {
				before[id] = w.journal[id]
			}
			y.loop(t)
			sameOutcome(t, n, whole, y)
			withinLimits(t, n, y)
			for _, id := range finished {
				if w.journal[id] != before[id] {
					t.Errorf("stopped after event %d: tool call %s had a result and ran again", n, id)
				}
			}
		}
	}
}

// stopping is how a process stops.
type stopping struct {
	happened bool // what it did that the log does not have
	inOrder  bool // it hands over the attempt in the air
}

// handedOver is log after the owner of its last attempt, if that is in the air, has handed it over.
func handedOver(t tb, w *world, log [][]byte) [][]byte {
	t.Helper()
	y := newToy(w)
	for _, stored := range log {
		y.take(t, stored)
	}
	if a := y.run.Attempt; a == nil || a.State != AttemptInAir || y.run.End != nil {
		return log
	}
	y.now, y.saved = y.run.Last.Add(time.Millisecond), "half of it"
	y.append(t, y.facts(y.run.HandOver(y.now)))
	return y.log
}

// journalOf counts the tool calls that took effect, by the events; happened says whether those
// without a result did.
func journalOf(told []Event, happened bool) map[string]int {
	journal, began := map[string]int{}, map[string]int{}
	for _, e := range told {
		switch b := e.Body.(type) {
		case ToolBegan:
			began[b.CallID]++
			journal[b.CallID]++
		case ToolReturned:
			delete(began, b.CallID)
		}
	}
	for id := range began {
		if !happened {
			journal[id]--
		}
	}
	return journal
}

func finishedTools(r *Run) []string {
	var ids []string
	for _, m := range r.Messages[r.Carried:] {
		for _, p := range m.Parts {
			if p.Result != nil {
				ids = append(ids, p.Result.CallID)
			}
		}
	}
	return ids
}

func sameOutcome(t tb, n int, want, got *toy) {
	t.Helper()
	if interruptionIsFinal(t, got) || lostIsFinal(t, n, got) {
		return
	}
	if got.run.Status != want.run.Status {
		t.Errorf("stopped after event %d: the run is %s, not %s; it ends with\n%s", n, got.run.Status, want.run.Status, got.tail())
	}
	if want.run.Status == StatusCompleted && got.run.Answer() != want.run.Answer() {
		t.Errorf("stopped after event %d: the answer is %q, not %q", n, got.run.Answer(), want.run.Answer())
	}
}

// lostIsFinal reports whether what the run asked was lost with its process: whoever found it
// then has ended it as interrupted, and asked nobody anything.
func lostIsFinal(t tb, n int, y *toy) bool {
	t.Helper()
	if !y.run.Lost || y.run.End.Status == StatusCompleted || y.run.End.Status == StatusCancelled {
		return false
	}
	for _, e := range y.told[n:] {
		switch e.Body.(type) {
		case Claimed, Failed, Ended:
		default:
			t.Errorf("stopped after event %d: what was asked is lost, and %s follows", n, e.Type())
		}
	}
	if y.run.End.StopReason != "interrupted" {
		t.Errorf("stopped after event %d: the run ends as %s, not as interrupted", n, y.run.End.StopReason)
	}
	return true
}

// interruptionIsFinal reports whether the run ended because nobody would have it
// go on after an interruption.
func interruptionIsFinal(t tb, y *toy) bool {
	t.Helper()
	if y.run.Status == StatusCompleted || y.run.Open == nil || y.run.Open.Failure.Kind != failure.KindInterrupted {
		return false
	}
	d := y.run.Open.Decision
	return d != nil && (d.By == nil || d.Action == ActionFail || y.w.person(y.run) == "")
}

// withinLimits counts what the log and the journal say against the hard limits.
func withinLimits(t tb, n int, y *toy) {
	t.Helper()
	granted, inCall, inRun := 0, 0, 0
	for _, e := range y.told {
		switch b := e.Body.(type) {
		case Accepted:
			granted++
		case Began:
			inCall++
			if inCall > MaxAttemptsInAll+granted {
				t.Errorf("stopped after event %d: %d attempts of one model call", n, inCall)
			}
		case Answered:
			inCall = 0
		case Failed:
			if b.Attempt != 0 {
				inRun++
			}
		}
	}
	if inRun > MaxFailedAttempts+granted {
		t.Errorf("stopped after event %d: %d failed attempts", n, inRun)
	}
	for id, times := range y.w.journal {
		most := 1
		if y.repeatable(id) {
			most = MaxToolTries
		}
		if times > most {
			t.Errorf("stopped after event %d: tool call %s ran %d times", n, id, times)
		}
	}
}

func (y *toy) repeatable(id string) bool {
	for _, e := range y.told {
		if b, ok := e.Body.(ToolBegan); ok && b.CallID == id {
			return y.run.declared(b.Name).Safety.Repeatable()
		}
	}
	return false
}

// TestI05RepeatableToolRunsTwiceAtMost loses the process in the middle of the same
// tool call again and again: always after its intent, never with a result.
func TestI05RepeatableToolRunsTwiceAtMost(t *testing.T) {
	for name, most := range map[string]int{"unsafe": 1, "idempotent": MaxToolTries} {
		w := parseStory(t, name, "policy auto plugins=p\ntool x "+name+" 1s\nmodel a/one call x\nmodel a/one answer Done.\n")
		log := play(t, w).log[:5]
		w.journal = map[string]int{"c1.1": 1}
		for range 5 {
			y := resume(t, w, log)
			for len(y.run.Pending) > 0 && y.run.Pending[0].State != ToolCallInAir && y.step(t) {
			}
			log = y.log
		}
		y := resume(t, w, log)
		y.loop(t)
		if y.run.Status != StatusCompleted || w.journal["c1.1"] != most {
			t.Errorf("%s: %s, and the tool ran %d times, not %d", name, y.run.Status, w.journal["c1.1"], most)
		}
	}
}
