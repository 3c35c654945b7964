package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// The topics of notes.
const (
	TopicProgress = "progress"  // how long a step has been going on
	TopicText     = "text"      // the call in the air has sent text; written when a step's clock or a progress note would be due
	TopicToolSays = "tool_says" // a tool reports its progress
	TopicToolLate = "tool_late" // a tool ended after its run
	TopicTooLate  = "too_late"  // a person's answer came when there was nothing left to answer
)

// quietAround is the least time between a progress note and the last thing that people saw (spec
// §3), unless progress notes are set to come sooner.
const quietAround = 20 * time.Second

// nextNote is the timer of the next "still working" note, about the call that has been in the air
// longest. The first comes after Timeouts.ProgressAfter, each later one after twice the time of the
// one before. None comes within quietAround (or ProgressAfter, if that is less) of something else
// that people saw.
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

// workingOn is a note about the call that has been in the air longest, and how many notes about it
// there have been.
func (r *Run) workingOn() (note Noted, said int, ok bool) {
	for _, t := range r.Pending {
		if t.State == ToolCallInAir && t.By != ByCaller && (!ok || t.BeganAt.Before(note.Since)) {
			note, said, ok = Noted{Topic: TopicProgress, What: t.Call.Name, CallID: t.Call.ID, Since: t.BeganAt}, t.Notes, true
		}
	}
	if a := r.Attempt; !ok && a != nil && a.State == AttemptInAir {
		return Noted{Topic: TopicProgress, What: a.Model, Attempt: a.ID, Since: a.BeganAt}, a.Notes, true
	}
	return note, said, ok
}

func (r *Run) noted(b Noted) {
	switch a := r.Attempt; {
	case b.Topic == TopicText && a != nil && a.ID == b.Attempt && a.InAir():
		r.stepBy(b.Since)
		return
	case b.Topic != TopicProgress:
		return
	}
	if a := r.Attempt; a != nil && b.Attempt != 0 && a.ID == b.Attempt {
		a.Notes++
	} else if t := r.tool(b.CallID); t != nil {
		t.Notes++
	}
}

// stepBy lets text received at that time reset the step's clock, if the policy says so.
func (r *Run) stepBy(heard time.Time) {
	if r.Policy.StepCountsText && heard.After(r.LastStepAt) {
		r.LastStepAt = heard
	}
}

// Postpone gives the note to write instead of due, if the call in the air has sent something since
// that the log does not have; heard is when it last did.
func (r *Run) Postpone(due Body, heard time.Time) (Noted, bool) {
	a := r.Attempt
	if a == nil || a.State != AttemptInAir {
		return Noted{}, false
	}
	late := false
	switch b := due.(type) {
	case Due:
		late = b.Timer == failure.TimerStep && r.Policy.StepCountsText && heard.After(r.LastStepAt)
	case Noted:
		late = b.Topic == TopicProgress && b.Attempt == a.ID && heard.After(r.lastSeen)
	}
	return Noted{Topic: TopicText, Attempt: a.ID, Since: heard}, late
}

// seen gives when people saw something of e, and reports whether they did.
func seen(e Event) (time.Time, bool) {
	switch b := e.Body.(type) {
	case ToolBegan, ToolReturned, Answered:
		return e.Time, true
	case Noted:
		if b.Topic == TopicText {
			return b.Since, true
		}
	}
	return e.Time, e.Text != ""
}

// LastAction names what the run did last and how long that took: the tool call that has been going
// on longest at the given time, or otherwise the step that finished last.
func (r *Run) LastAction(at time.Time) (what string, took failure.Millis) {
	if note, _, ok := r.workingOn(); ok && note.CallID != "" {
		return note.What, failure.InMillis(nonNegative(at.Sub(note.Since)))
	}
	if calls := r.Awaited(); len(calls) > 0 {
		return calls[0].Name, failure.InMillis(nonNegative(at.Sub(calls[0].Since)))
	}
	return r.LastStep, r.LastStepTook
}
