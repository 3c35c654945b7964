package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// The topics of notes.
const (
	TopicProgress = "progress"  // what a long step is about
	TopicToolSays = "tool_says" // a tool tells how far it has come
	TopicToolLate = "tool_late" // a tool ended after its run
	TopicTooLate  = "too_late"  // a person's answer came when there was nothing to answer any more
)

// quietAround is how far a progress note keeps from the last thing that people saw
// (spec §3), unless it is asked for sooner than that.
const quietAround = 20 * time.Second

// nextNote is the timer of the next "still working" note about the call that has been in
// the air longest: first after Timeouts.ProgressAfter, then at twice the time, and never
// soon after something else was seen: within quietAround, or ProgressAfter where that is less.
func (r *Run) nextNote() (SetTimer, bool) {
	after := r.Policy.Timeouts.ProgressAfter
	note, said, ok := r.workingOn()
	if !ok || after <= 0 || r.Open != nil {
		return SetTimer{}, false
	}
	at := note.Since.Add((after << min(said, 20)).Duration())
	if quiet := r.lastSeen.Add(min(quietAround, after.Duration())); at.Before(quiet) {
		at = quiet
	}
	note.Elapsed = failure.InMillis(nonNegative(at.Sub(note.Since)))
	return SetTimer{At: at, Write: note}, true
}

// workingOn is a note about the call that has been in the air longest, and how often that
// was said of it before.
func (r *Run) workingOn() (note Noted, said int, ok bool) {
	for _, t := range r.Pending {
		if t.InAir && (!ok || t.BeganAt.Before(note.Since)) {
			note, said, ok = Noted{Topic: TopicProgress, What: t.Call.Name, CallID: t.Call.ID, Since: t.BeganAt}, t.Notes, true
		}
	}
	if a := r.Attempt; !ok && a != nil && a.InAir && !a.Orphan {
		return Noted{Topic: TopicProgress, What: a.Model, Attempt: a.ID, Since: a.BeganAt}, a.Notes, true
	}
	return note, said, ok
}

func (r *Run) noted(b Noted) {
	if b.Topic != TopicProgress {
		return
	}
	if a := r.Attempt; a != nil && b.Attempt != 0 && a.ID == b.Attempt {
		a.Notes++
	} else if t := r.tool(b.CallID); t != nil {
		t.Notes++
	}
}

// seen reports whether people see that e happened.
func seen(e Event) bool {
	switch e.Body.(type) {
	case Checkpointed, ToolBegan, ToolReturned, Answered:
		return true
	}
	return e.Text != ""
}

// LastAction is what the run did last, and how long that took: the tool call that has
// been going on longest, at the given time, or else the step that finished last.
func (r *Run) LastAction(at time.Time) (what string, took failure.Millis) {
	if note, _, ok := r.workingOn(); ok && note.CallID != "" {
		return note.What, failure.InMillis(nonNegative(at.Sub(note.Since)))
	}
	return r.LastStep, r.LastStepTook
}
