package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// checker goes through a log once, with the state before each event at hand.
type checker struct {
	w   *world
	run *recovery.Run // before the event

	end       uint64 // the event that ended the run
	cancelled time.Time
	began     int             // attempts of the model call at hand
	failed    int             // attempts in all
	granted   int             // by a person, within the model call at hand
	grants    int             // by a person, in all
	accepted  bool            // since the last failure
	failure   recovery.Event  // the last one
	waiting   bool            // the last event began a wait that is too long to wait
	calls     map[string]bool // that an answer asked for
	returned  map[string]int
	answered  map[string]int // suggestions, by a person
	usage     llm.Usage
	wrong     []string
}

func (c *checker) complain(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// check gives every breach of an invariant that the world left behind.
func (w *world) check() []string {
	c := &checker{w: w, run: &recovery.Run{}, calls: map[string]bool{}, returned: map[string]int{}, answered: map[string]int{}}
	events := w.store.events()
	for i, e := range events {
		if e.Seq != uint64(i)+1 {
			c.complain("I02: event %d is numbered %d", i+1, e.Seq)
		}
		c.event(e)
		if err := c.run.Apply(e); err != nil {
			c.complain("I26: %v", err)
		}
	}
	c.outcome()
	c.tools()
	c.requests()
	c.fold(events)
	c.screen()
	return append(c.wrong, w.wrong...)
}

func (c *checker) event(e recovery.Event) {
	if _, note := e.Body.(recovery.Noted); c.end > 0 && !note {
		c.complain("I01: event %d (%s) follows the end", e.Seq, e.Type())
	}
	if len(e.Text) > recovery.MaxText {
		c.complain("I43: event %d says %d bytes", e.Seq, len(e.Text))
	}
	if due, ok := e.Body.(recovery.Due); ok && c.waiting && due.Timer == recovery.TimerWait {
		c.complain("I14: event %d: a wait of more than 60 s was waited for in the process", e.Seq)
	}
	c.waiting = false
	switch b := e.Body.(type) {
	case recovery.Began:
		c.beganEvent(e, b)
	case recovery.Answered:
		c.usage = c.usage.Plus(b.Usage)
		c.inAir(e, b.Attempt)
		c.began, c.granted = 0, 0
		for _, call := range b.Message.Calls() {
			c.calls[call.ID] = true
		}
	case recovery.Failed:
		c.usage = c.usage.Plus(b.Usage)
		if b.Attempt != 0 {
			c.inAir(e, b.Attempt)
			c.failed++
		}
		if c.failed > recovery.MaxFailedAttempts+c.grants {
			c.complain("I12: event %d: %d attempts have failed", e.Seq, c.failed)
		}
		c.failure, c.accepted = e, false
	case recovery.Decided:
		c.decided(e, b)
	case recovery.Waiting:
		c.waitingEvent(e, b)
	case recovery.ToolBegan:
		c.toolBegan(e, b)
	case recovery.ToolReturned:
		if c.returned[b.CallID]++; c.returned[b.CallID] > 1 {
			c.complain("I04: event %d: %s returned twice", e.Seq, b.CallID)
		}
	case recovery.Accepted:
		c.acceptedEvent(e, b)
	case recovery.CancelRequested:
		if c.cancelled.IsZero() {
			c.cancelled = e.Time
		}
	case recovery.Ended:
		c.end = e.Seq
		if claimed := c.w.claimedAfter(0, e.Seq); claimed.After(c.cancelled) && !c.cancelled.IsZero() {
			c.cancelled = claimed // nobody drove the run
		}
		if late := c.w.store.slack(c.cancelled); !c.cancelled.IsZero() && e.Time.Sub(c.cancelled) > 2*time.Second+late {
			c.complain("I22: cancelled, and ended %s later", e.Time.Sub(c.cancelled))
		}
	}
}

func (c *checker) inAir(e recovery.Event, attempt uint64) {
	if a := c.run.Attempt; a == nil || !a.InAir || a.ID != attempt {
		c.complain("I10: event %d (%s) is about attempt %d, which is not in the air", e.Seq, e.Type(), attempt)
	}
}

func (c *checker) beganEvent(e recovery.Event, b recovery.Began) {
	r := c.run
	if r.Attempt != nil && r.Attempt.InAir {
		c.complain("I10: event %d begins attempt %d while %d is in the air", e.Seq, b.Attempt, r.Attempt.ID)
	}
	c.mayBegin(e)
	if c.began++; c.began > recovery.MaxAttemptsPerCall+c.granted {
		c.complain("I12: event %d is attempt %d of one model call (%d granted)", e.Seq, c.began, c.granted)
	}
	if !slices.Contains(r.Policy.Models, b.Model) {
		c.complain("I19: event %d asks %q", e.Seq, b.Model)
	}
	o := r.Open
	if o == nil {
		if c.began > 1 {
			c.complain("I20: event %d tries again without a failure", e.Seq)
		}
		return
	}
	if d := o.Decision; d == nil || (d.Action != recovery.ActionRetry && d.Action != recovery.ActionSwitchModel) {
		c.complain("I20: event %d begins without a decision to", e.Seq)
		return
	}
	if c.accepted {
		return
	}
	if !r.Policy.AutoRecover {
		c.complain("I17: event %d begins attempt %d and nobody accepted it", e.Seq, b.Attempt)
	}
	if o.Decision.BlockedBy != "" {
		c.complain("I12: event %d begins although %s forbids it", e.Seq, o.Decision.BlockedBy)
	}
	waited := e.Time.Sub(o.At)
	if c.began > 2 && waited < recovery.MinDelay.Duration() {
		c.complain("I12: event %d begins %s after the failure", e.Seq, waited)
	}
	same := b.Model == o.Failure.Model
	if same && waited < o.Failure.RetryAfter.Duration() {
		c.complain("I13: event %d asks %s again after %s; it asked for %d ms", e.Seq, b.Model, waited, o.Failure.RetryAfter)
	}
	if same && e.Time.Before(o.Failure.ResetsAt) {
		c.complain("I13: event %d asks %s again before %s", e.Seq, b.Model, o.Failure.ResetsAt)
	}
}

// mayBegin looks at what forbids any effect.
func (c *checker) mayBegin(e recovery.Event) {
	r := c.run
	if !c.cancelled.IsZero() {
		c.complain("I22: event %d (%s) follows a cancel", e.Seq, e.Type())
	}
	late := c.w.store.slack(e.Time) // a write may take long
	if run := r.Policy.Timeouts.Run; run > 0 && e.Time.Sub(r.StartedAt) > run.Duration()+late {
		c.complain("I11: event %d (%s) is after the run's timeout", e.Seq, e.Type())
	}
	if turn := r.Policy.Timeouts.MaxTurn; turn > 0 && e.Time.Sub(r.StartedAt) > turn.Duration()+r.Parked+late {
		c.complain("I11: event %d (%s) is after the turn's time", e.Seq, e.Type())
	}
	if b := r.Policy.Budget.Tokens; b > 0 && r.Spent.Tokens >= b {
		c.complain("I11: event %d (%s) with %d of %d tokens spent", e.Seq, e.Type(), r.Spent.Tokens, b)
	}
}

func (c *checker) decided(e recovery.Event, b recovery.Decided) {
	if d := b.Decision.Delay; d < 0 || d > recovery.MaxDelay {
		c.complain("I13: event %d decides to wait %d ms", e.Seq, d)
	}
	o := c.run.Open
	if o == nil || o.Seq != b.Failure {
		c.complain("I20: event %d decides about %d, which is not open", e.Seq, b.Failure)
		return
	}
	asked := o.At
	for _, e := range c.w.store.events()[o.Seq:e.Seq] {
		switch e.Body.(type) {
		case recovery.Claimed, recovery.ToolReturned: // tools beside the one that failed end first
			asked = e.Time
		}
	}
	if took := e.Time.Sub(asked); took > 5*time.Second+c.w.store.slack(asked) {
		c.complain("I16: event %d: the plugins took %s", e.Seq, took)
	}
}

// claimedAfter is when a new owner took the run between two events, if one did.
func (w *world) claimedAfter(from, to uint64) (at time.Time) {
	for _, e := range w.store.events()[from:to] {
		if _, ok := e.Body.(recovery.Claimed); ok {
			at = e.Time
		}
	}
	return at
}

func (c *checker) waitingEvent(e recovery.Event, b recovery.Waiting) {
	o := c.run.Open
	if o == nil || o.Decision == nil {
		c.complain("I20: event %d waits without a decision", e.Seq)
		return
	}
	if !c.run.Policy.AutoRecover && !c.accepted {
		c.complain("I17: event %d waits and nobody accepted it", e.Seq)
	}
	wait := b.Until.Sub(o.At)
	if wait < 0 || wait > recovery.MaxDelay.Duration() {
		c.complain("I13: event %d waits for %s", e.Seq, wait)
	}
	c.waiting = b.Until.Sub(e.Time) > recovery.MaxInProcessWait.Duration()
}

func (c *checker) toolBegan(e recovery.Event, b recovery.ToolBegan) {
	c.mayBegin(e)
	if !c.calls[b.CallID] {
		c.complain("I07: event %d runs %s, which no answer asked for", e.Seq, b.CallID)
	}
	if c.returned[b.CallID] > 0 {
		c.complain("I04: event %d runs %s, which has returned", e.Seq, b.CallID)
	}
}

func (c *checker) acceptedEvent(e recovery.Event, b recovery.Accepted) {
	if c.answered[b.Suggestion]++; c.answered[b.Suggestion] > 1 {
		c.complain("I18: event %d accepts %s again", e.Seq, b.Suggestion)
	}
	c.accepted = true
	c.grants++
	c.granted++
}

// outcome looks at how the run stands when nobody does anything any more.
func (c *checker) outcome() {
	r := c.run
	if c.w.started && r.End == nil && !r.SuggestionOpen() {
		c.complain("I01: the run stands at event %d, %s, and has not settled", r.Seq, r.Status)
	}
	if !c.cancelled.IsZero() && r.End == nil {
		c.complain("I22: cancelled, and it never ended")
	}
	if c.usage != r.Usage {
		c.complain("I41: the attempts used %+v, the run %+v", c.usage, r.Usage)
	}
}

func (c *checker) tools() {
	count := map[string]int{}
	for _, x := range c.w.journal.list {
		count[x.call]++
		if !x.known {
			c.complain("I06: %s ran before its intent was durable", x)
		}
		if x.done {
			c.complain("I04: %s ran although it had returned", x)
		}
		limit := 1
		if x.tool == "lookup" {
			limit = recovery.MaxToolTries
		}
		if count[x.call] > limit {
			c.complain("I05: %s ran %d times", x, count[x.call])
		}
	}
}

func (c *checker) requests() {
	requests := c.w.lab.Requests()
	for i, q := range requests {
		if q.Refused != "" {
			c.complain("I08: request %d to %s was refused: %s\n%s", i+1, q.Model, q.Refused, q.Body)
		}
	}
	if uint64(len(requests)) > c.run.Attempts {
		c.complain("I06: %d requests, %d attempts", len(requests), c.run.Attempts)
	}
}

// fold compares the state that the runner had with what the log amounts to, also
// when the log went through its stored form.
func (c *checker) fold(events []recovery.Event) {
	live := c.w.last
	if live == nil || live.Seq != c.run.Seq {
		return // another process wrote the end
	}
	want := exported(live)
	if got := exported(c.run); got != want {
		c.complain("I26: the log folds to\n%s\nthe runner had\n%s", got, want)
	}
	stored := make([]recovery.Event, len(events))
	for i, e := range events {
		data, err := json.Marshal(e)
		if err == nil {
			err = json.Unmarshal(data, &stored[i])
		}
		if err != nil {
			c.complain("I26: event %d: %v", e.Seq, err)
			return
		}
	}
	again, err := recovery.Fold(stored)
	if err != nil {
		c.complain("I26: %v", err)
	} else if got := exported(again); got != want {
		c.complain("I26: the stored log folds to\n%s\nthe runner had\n%s", got, want)
	}
}

func exported(r *recovery.Run) string {
	data, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (c *checker) screen() {
	s := c.w.screen
	c.wrong = append(c.wrong, s.wrong...)
	if s.seq != c.run.Seq && s.seq != c.end { // what is noted later is not followed
		c.complain("I29: the follower saw %d of %d events", s.seq, c.run.Seq)
		return
	}
	if last := c.run.Messages; len(last) > 0 && last[len(last)-1].Role != llm.RoleTool && s.text() != c.run.Answer() {
		c.complain("I09: the screen shows %q, the run says %q", s.text(), c.run.Answer())
	}
}
