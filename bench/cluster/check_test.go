package cluster

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// check checks everything that must hold for a run that has ended.
func (c *cluster) check(r *reader) {
	c.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.wrong {
		c.Error(w)
	}
	events, err := c.store.Read(c.Context(), r.run, 0, 0)
	if err != nil {
		c.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != uint64(i)+1 {
			c.Errorf("I02: run %s: event %d has the number %d", r.run, i+1, e.Seq)
		}
		form, err := e.MarshalJSON()
		if err != nil {
			c.Fatal(err)
		}
		if shown := r.shown[e.Seq]; shown != string(form) {
			c.Errorf("I03: run %s: event %d was shown as\n%s\nand is\n%s", r.run, e.Seq, shown, form)
		}
	}
	if len(r.shown) > len(events) {
		c.Errorf("I03: run %s: %d events were shown, and %d are left", r.run, len(r.shown), len(events))
	}
	end, ok := events[len(events)-1].Body.(recovery.Ended)
	if !ok || end.Status != recovery.StatusCompleted {
		c.Errorf("I01: run %s: %s, at %T", r.run, end.Status, events[len(events)-1].Body)
	}
	if text := r.screen.Text(); text != sentence {
		c.Errorf("I09: run %s: %q is shown in the end", r.run, text)
	}
	c.paidOnce(r, events)
}

// paidOnce: every call of the tool was carried out exactly once. In an early run the nemesis may
// have stopped the call, and exactly-once is impossible then: it was carried out at most once, and
// its result says that it was not begun, or that nobody knows. Even then twice is wrong, and so is
// a result that says anything else.
func (c *cluster) paidOnce(r *reader, events []recovery.Event) {
	c.Helper()
	text, err := os.ReadFile(c.journal())
	if err != nil {
		c.Fatal(err)
	}
	effects := strings.Fields(string(text))
	for _, e := range events {
		b, ok := e.Body.(recovery.ToolReturned)
		if !ok {
			continue
		}
		n := len(slices.DeleteFunc(slices.Clone(effects), func(id string) bool { return id != b.CallID }))
		once := n == 1 && !b.NotRun
		if r.early {
			once = once || n == 0 && b.NotRun || n <= 1 && b.Outcome == recovery.OutcomeUnknown
		}
		if !once {
			c.Errorf("I04: run %s: call %s was carried out %d times: %s, %q", e.Run, b.CallID, n, b.Outcome, b.Result.Text)
		}
	}
}

// sound fails the test if something wrong has been shown so far.
func (c *cluster) sound(r *reader) {
	c.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) > 0 {
		c.Fatal(r.wrong)
	}
}

// newer: an owner that takes over a run has a higher epoch than the owner before.
func (c *cluster) newer(run string, old recovery.Claimed) {
	c.Helper()
	heads, err := c.store.StandsOn().Heads(c.Context(), run)
	if err != nil || len(heads) != 1 {
		c.Fatalf("%+v, %v", heads, err)
	}
	if h := heads[0]; h.Owner != "" && h.Owner != old.Owner && h.Epoch <= old.Epoch {
		c.Fatalf("I34: run %s: epoch %d is given to %s after %s", run, h.Epoch, h.Owner, old.Owner)
	}
}

// fenced: a lease that a later claim has superseded writes nothing, even with the right number of
// the last event.
func (c *cluster) fenced(run string, old recovery.Claimed) {
	c.Helper()
	store := c.store.StandsOn() // a Journal would check the lease before asking the store
	for range 20 {              // the run continues meanwhile
		heads, err := store.Heads(c.Context(), run)
		if err != nil || len(heads) != 1 {
			c.Fatalf("%+v, %v", heads, err)
		}
		head := heads[0].Summary
		a := &timeline.Append{
			Lease: timeline.Lease{Run: run, Owner: old.Owner, Epoch: old.Epoch}, After: head.Seq, Durable: func() {}, Head: head,
			Events: []recovery.Event{{Run: run, Seq: head.Seq + 1, Time: time.Now().UTC(), Body: recovery.Noted{Topic: "zombie"}}},
		}
		a.Head.Seq++
		err = store.Append(c.Context(), a)
		if errors.Is(err, timeline.ErrConflict) {
			continue
		}
		if !errors.Is(err, timeline.ErrStale) {
			c.Errorf("I34: run %s: %s writes by epoch %d, which is over: %v", run, old.Owner, old.Epoch, err)
		}
		return
	}
}

// guarded: nobody can take over the run of a live member.
func (c *cluster) guarded(run string) {
	c.Helper()
	_, err := c.store.Claim(c.Context(), run, "thief", time.Minute)
	if !errors.Is(err, timeline.ErrOwned) {
		c.Errorf("I36: run %s is taken while its owner lives: %v", run, err)
	}
}
