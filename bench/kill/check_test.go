package kill

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// remains are what a cycle leaves: the reopened store and the journal.
type remains struct {
	*cycle
	events  []recovery.Event
	run     *recovery.Run
	resumed *recovery.Run // the same, restored as a resuming process does it: from the snapshot, if there is one
	effects effects
	wrong   []string
}

// check reads what is left, and returns how the run ended and what is wrong.
func (c *cycle) check() (outcome string, wrong []string) {
	c.Helper()
	r := &remains{cycle: c}
	r.open()
	for _, rule := range []func(*remains){
		(*remains).i01settled, (*remains).i02noGap, (*remains).i03nothingLost, (*remains).i04resultsAreFinal, (*remains).i05unsafeToolsRunOnce,
		(*remains).i06intentFirst, (*remains).i08legalRequests, (*remains).i10oneAttempt, (*remains).i18oneAnswer, (*remains).i20decidedFirst,
		(*remains).i22cancelIsFinal, (*remains).i26snapshots, (*remains).i25countersSurvive, (*remains).i34oneOwner, (*remains).i41usageAdds,
	} {
		rule(r)
	}
	return r.outcome(), r.wrong
}

func (r *remains) complain(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

// report fails the test with everything that is wrong and the cycle's transcript.
func (c *cycle) report(wrong []string) {
	c.Helper()
	for _, w := range wrong {
		c.Error(w)
	}
	if len(wrong) > 0 {
		c.Logf("%v\n%s", c.processes, c.transcript())
	}
}

// open reads the store and the journal.
func (r *remains) open() {
	r.Helper()
	store, err := sqlite.Open(r.Context(), r.plan.store())
	if err != nil {
		r.Fatal("the store does not open any more: ", err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			r.Error(err)
		}
	}()
	runs, err := store.List(r.Context(), timeline.Query{})
	if err != nil {
		r.Fatal(err)
	}
	if len(runs) != 1 || runs[0].Run != runID {
		r.Fatalf("I37: one run was asked for, and there are %+v", runs)
	}
	if r.events, err = store.Read(r.Context(), runID, 0, 0); err != nil {
		r.Fatal(err)
	}
	if r.run, err = recovery.Fold(r.events); err != nil {
		r.Fatalf("I26: the log does not fold: %v", err)
	}
	if r.resumed, err = runner.New(runner.WithLog(store)).Inspect(r.Context(), runID); err != nil {
		r.Fatalf("I26: the run does not fold from its snapshot: %v", err)
	}
	if r.effects, err = readJournal(r.plan.journal()); err != nil {
		r.Fatal(err)
	}
}

// outcome is how the run ended, with the reason.
func (r *remains) outcome() string {
	switch {
	case r.run.End != nil:
		return strings.TrimSpace(r.run.End.StopReason + " " + r.lastFailure())
	case r.run.SuggestionOpen():
		return strings.TrimSpace("asks " + r.run.Suggestion.BlockedBy)
	}
	return string(r.run.Status)
}

// lastFailure is the kind of the failure that ended a failed run.
func (r *remains) lastFailure() (kind string) {
	if r.run.End.Status != recovery.StatusFailed {
		return ""
	}
	for _, e := range r.events {
		if b, ok := e.Body.(recovery.Failed); ok {
			kind = string(b.Failure.Kind)
		}
	}
	return kind
}

func (r *remains) i01settled() {
	if !r.run.Settled() {
		r.complain("I01: the run stands at event %d, %s, and has neither ended nor a reason to wait", r.run.Seq, r.run.Status)
	}
	if s := r.run.Suggestion; r.run.SuggestionOpen() && s.Title == "" && s.BlockedBy == "" {
		r.complain("I01: the run asks, and does not say why")
	}
	ends := 0
	for _, e := range r.events {
		_, note := e.Body.(recovery.Noted)
		_, end := e.Body.(recovery.Ended)
		if ends > 0 && !note {
			r.complain("I01: event %d (%s) follows the end", e.Seq, e.Type())
		}
		if end {
			ends++
		}
	}
}

func (r *remains) i02noGap() {
	for i, e := range r.events {
		if e.Seq != uint64(i)+1 { //nolint:gosec // an index
			r.complain("I02: event %d has the number %d", i+1, e.Seq)
		}
	}
}

// i03nothingLost: every event that was acknowledged, or shown to a follower (I31), is stored
// unchanged.
func (r *remains) i03nothingLost() {
	stored := map[string]bool{}
	for _, e := range r.events {
		stored[fmt.Sprint(e.Run, e.Seq, digest(e))] = true
	}
	for _, l := range r.lines {
		if (l.is(wordAcked) || l.is(wordShown)) && !stored[l[1]+l[2]+l[3]] {
			id := "I03"
			if l.is(wordShown) {
				id = "I31"
			}
			r.complain("%s: lost: %v", id, l)
		}
	}
}

func (r *remains) i04resultsAreFinal() {
	returned, key := map[string]recovery.Outcome{}, map[string]string{}
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.Answered:
			key = map[string]string{} // a later round may use an id again
		case recovery.ToolBegan:
			key[b.CallID] = b.Key
			if _, again := returned[b.Key]; again {
				r.complain("I04: event %d runs %s, which has returned", e.Seq, b.Key)
			}
		case recovery.ToolReturned:
			if _, again := returned[key[b.CallID]]; again {
				r.complain("I04: event %d: %s returned twice", e.Seq, b.CallID)
			}
			returned[key[b.CallID]] = b.Outcome
		}
	}
	for k, outcome := range returned {
		if outcome == recovery.OutcomeOK && r.effects.ended[k] == 0 {
			r.complain("I04: %s returned ok and has no effect in the journal", k)
		}
	}
	r.nothingAfterItsResult()
}

// nothingAfterItsResult: in the order of the transcript, no tool takes effect after its result was
// acknowledged.
func (r *remains) nothingAfterItsResult() {
	key, done := map[string]string{}, map[string]bool{}
	for _, l := range r.lines {
		switch {
		case l.ofType("tool_began"):
			key[l[4]] = l[5]
		case l.ofType("tool_returned"):
			done[key[l[4]]] = true
		case l.is(wordBegun) && done[l[1]]:
			r.complain("I04: %s ran although its result was durable", l[1])
		}
	}
}

// i05unsafeToolsRunOnce: an unsafe tool runs once, and if nobody knows whether it ran, its result
// says so.
func (r *remains) i05unsafeToolsRunOnce() {
	for key, n := range r.effects.begun {
		limit := 1
		if r.effects.tool[key] == toolLook {
			limit = recovery.MaxToolTries
		}
		if n > limit {
			r.complain("I05: %s took effect %d times (%s)", r.effects.tool[key], n, key)
		}
	}
	running, orphan := map[string]bool{}, map[string]bool{}
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.ToolBegan:
			running[b.CallID] = b.Name == toolPay
		case recovery.Claimed:
			for id, unsafe := range running {
				orphan[id] = orphan[id] || unsafe
			}
		case recovery.ToolReturned:
			if orphan[b.CallID] && b.Outcome != recovery.OutcomeUnknown {
				r.complain("I05: event %d: %s is said to be %s, and nobody knows", e.Seq, b.CallID, b.Outcome)
			}
			delete(running, b.CallID)
		}
	}
}

// i06intentFirst: a tool or a model call begins only after its intent was acknowledged.
func (r *remains) i06intentFirst() {
	intended, calls := map[string]bool{}, 0
	for _, l := range r.lines {
		switch {
		case l.ofType("tool_began"):
			intended[l[5]] = true
		case l.ofType("began"), l.ofType("compacting"):
			calls++
		case l.is(wordBegun) && !intended[l[1]]:
			r.complain("I06: %s took effect before its intent was durable", l[1])
		case l.is(wordAsking):
			if calls--; calls < 0 {
				r.complain("I06: a model was asked before the intent was durable")
			}
		}
	}
	begun := 0
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.Began, recovery.Compacting:
			begun++
		case recovery.ToolBegan:
			r.effects.begun[b.Key]--
		}
	}
	if asked := len(r.lab.Requests()); asked > begun {
		r.complain("I06: %d requests, %d were intended", asked, begun)
	}
	for key, n := range r.effects.begun {
		if n > 0 {
			r.complain("I06: %s took effect %d times more than was intended", key, n)
		}
	}
}

func (r *remains) i08legalRequests() {
	for i, q := range r.lab.Requests() {
		if q.Refused != "" {
			r.complain("I08: request %d was refused: %s", i+1, q.Refused)
		}
	}
}

func (r *remains) i10oneAttempt() {
	running := uint64(0)
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.Began:
			if running != 0 {
				r.complain("I10: event %d begins attempt %d while %d is in the running", e.Seq, b.Attempt, running)
			}
			running = b.Attempt
		case recovery.Answered:
			running = 0
		case recovery.Failed:
			if b.Attempt != 0 {
				running = 0
			}
		}
	}
}

func (r *remains) i18oneAnswer() {
	answered := map[string]bool{}
	for _, e := range r.events {
		if b, ok := e.Body.(recovery.Accepted); ok {
			if answered[b.Suggestion] {
				r.complain("I18: event %d accepts %s again", e.Seq, b.Suggestion)
			}
			answered[b.Suggestion] = true
		}
	}
}

func (r *remains) i20decidedFirst() {
	var open *recovery.Failed
	decided := false
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.Failed:
			open, decided = &b, false
		case recovery.Decided:
			decided = true
		case recovery.Began:
			if open != nil && !decided {
				r.complain("I20: event %d tries again and nobody decided that", e.Seq)
			}
			open = nil
		}
	}
}

func (r *remains) i22cancelIsFinal() {
	cancelled := false
	for _, e := range r.events {
		switch e.Body.(type) {
		case recovery.CancelRequested:
			cancelled = true
		case recovery.Began, recovery.ToolBegan, recovery.Compacting:
			if cancelled {
				r.complain("I22: event %d (%s) follows a cancel", e.Seq, e.Type())
			}
		}
	}
	if cancelled && (r.run.End == nil || r.run.End.Status != recovery.StatusCancelled) {
		r.complain("I22: it was cancelled, and came to %s", r.outcome())
	}
}

// i25countersSurvive: attempts and crashes are counted across all processes, and a run that crashes
// again and again is not resumed automatically.
func (r *remains) i25countersSurvive() {
	attempts, crashes, accepted := uint64(0), 0, false
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.Began:
			if attempts++; b.Attempt != attempts {
				r.complain("I25: event %d is attempt %d, after %d others", e.Seq, b.Attempt, attempts-1)
			}
			if crashes >= recovery.MaxInterruptedCrashes && !accepted {
				r.complain("I25: event %d goes on after %d crashes", e.Seq, crashes)
			}
			accepted = false
		case recovery.Failed:
			if b.Failure.Kind == failure.KindInterrupted {
				crashes++
			}
		case recovery.Accepted:
			accepted = true
		case recovery.Answered:
			crashes = 0
		case recovery.ToolReturned:
			crashes = 0
		}
	}
	if r.run.Attempts != attempts || r.run.Crashes > crashes {
		r.complain("I25: the run counts %d attempts and %d crashes; there were %d and %d", r.run.Attempts, r.run.Crashes, attempts, crashes)
	}
}

// i26snapshots: a snapshot and the events after it fold to the same state as all events.
func (r *remains) i26snapshots() {
	all, err := r.run.Snapshot(false)
	if err != nil {
		r.Fatal(err)
	}
	rest, err := r.resumed.Snapshot(false)
	if err != nil {
		r.Fatal(err)
	}
	if !bytes.Equal(all, rest) {
		r.complain("I26: the log amounts to\n%s\nand from its snapshot to\n%s", all, rest)
	}
}

func (r *remains) i34oneOwner() {
	epoch := uint64(0)
	for _, e := range r.events {
		if b, ok := e.Body.(recovery.Claimed); ok {
			if b.Epoch <= epoch {
				r.complain("I34: event %d: epoch %d follows %d", e.Seq, b.Epoch, epoch)
			}
			epoch = b.Epoch
		}
	}
}

func (r *remains) i41usageAdds() {
	var used llm.Usage
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case recovery.Answered:
			used = used.Plus(b.Usage)
		case recovery.Failed:
			used = used.Plus(b.Usage)
		case recovery.Compacted:
			used = used.Plus(b.Usage)
		}
	}
	if r.run.Usage != used {
		r.complain("I41: the attempts used %+v, the run says %+v", used, r.run.Usage)
	}
	if r.run.Spent.Tokens < used.Total() {
		r.complain("I25: %d tokens count against the budget, %d were used", r.run.Spent.Tokens, used.Total())
	}
}
