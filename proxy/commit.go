package proxy

import (
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Mode says what happens when an answer breaks off after its caller has seen a part of it.
type Mode string

// The modes.
const (
	ModeContinue Mode = "continue" // another call goes on from there if that is possible; otherwise as ModeError
	ModeHold     Mode = "hold"     // it cannot happen: the caller gets the answer once it is whole
	ModeError    Mode = "error"    // the answer ends with an error
)

// mode is what a call's mode comes to: an answer that is not streamed is shown only when it is
// whole, and one that must be in one piece, or needs what only its provider has, cannot be
// continued.
func (a *asked) mode(wanted Mode) Mode {
	switch {
	case !a.Stream:
		return ModeHold
	case wanted == ModeContinue && len(a.Whole)+len(a.Bound) > 0:
		return ModeError
	}
	return wanted
}

// commit decides which parts of a call's attempts the caller gets. It is a state machine without
// clock or connection; its owner calls it under a lock.
type commit struct {
	mode     Mode
	attempt  uint64 // the attempt that is being heard
	attempts int
	model    string      // the model that is asked, by its full name
	held     []llm.Delta // heard of the attempt, but not passed on
	given    []llm.Delta // what was passed on last, for the room in it
	shown    recovery.Shown
	framed   bool       // the attempt is passed on as it came
	lent     *llm.Frame // the last piece of it, while it is heard
	sealed   uint64     // attempts up to this one are over
	usage    llm.Usage  // of the attempt
	spent    llm.Usage  // of the attempts before it
	usages   usage      // as the caller's wire writes them
}

// began makes attempt the one that is heard. Everything of the one before that was not passed on
// is void, except its cost. An attempt that asks again in another way, since its provider refused
// the first request, begins twice.
func (c *commit) began(attempt uint64, model string) {
	if attempt != c.attempt {
		c.sealed = max(c.sealed, c.attempt)
		c.attempts++
	}
	c.spent = c.spent.Plus(c.usage)
	c.attempt, c.model, c.usage = attempt, model, llm.Usage{}
	c.held, c.given = nil, nil // a reader may still use the slices of the attempt before
	c.framed = false
}

// goesOn makes attempt the one that is heard; its text continues that of the one before. From
// here on the answer is encoded anew, and no longer passed on as it came.
func (c *commit) goesOn(attempt uint64, model string) {
	held := slices.DeleteFunc(c.held, func(d llm.Delta) bool { return d.Kind == llm.DeltaFrame })
	c.began(attempt, model)
	c.held = held
}

// heard returns what the caller gets for d; ok is false if the attempt is over or was
// replaced.
func (c *commit) heard(attempt uint64, d llm.Delta) (out []llm.Delta, ok bool) {
	if attempt != c.attempt || attempt <= c.sealed {
		return nil, false
	}
	if d.Frame != nil {
		out, d.Frame = c.frame(d.Frame), nil
	}
	if d.Kind != llm.DeltaFrame {
		out = joined(out, c.content(d))
	}
	c.own()
	return out, true
}

// own copies what is held of the last delta and its frame, because they are lent.
func (c *commit) own() {
	for i := range c.held[max(0, len(c.held)-2):] {
		d := &c.held[len(c.held)-1-i]
		d.Ends = slices.Clone(d.Ends)
		if f := d.Frame; f != nil && f == c.lent {
			d.Frame = &llm.Frame{Status: f.Status, Header: f.Header, Data: slices.Clone(f.Data)}
		}
	}
	c.lent = nil
}

// content takes a delta without a piece of the answer as it came.
func (c *commit) content(d llm.Delta) []llm.Delta {
	switch d.Kind {
	case llm.DeltaPing, llm.DeltaRepaired:
		return nil
	case llm.DeltaUsage:
		c.usage = d.Usage
		d.Usage = d.Usage.Plus(c.spent)
	}
	if c.shown == recovery.ShownNothing && !c.opens(d) || c.closes(d) {
		c.held = append(c.held, d)
		return nil
	}
	c.shown = recovery.ShownPart
	return c.take(d)
}

// frame takes a piece of the answer as it came. Its deltas come after it, so it is held until
// they do or, if it has none that are shown, until the next piece.
func (c *commit) frame(f *llm.Frame) []llm.Delta {
	if f.Status == 0 && c.spent != (llm.Usage{}) {
		f = &llm.Frame{Data: c.usages.plus(f.Data, c.spent)}
	}
	c.framed, c.lent = true, f
	d := llm.Delta{Kind: llm.DeltaFrame, Frame: f}
	if c.shown == recovery.ShownNothing || c.ending() {
		c.held = append(c.held, d)
		return nil
	}
	before := c.take()
	c.held = append(c.held, d)
	return before
}

// opens reports whether d is content with which the answer begins for its caller. A tool call is
// not: it is held back until it is whole, which the writer takes care of.
func (c *commit) opens(d llm.Delta) bool {
	return c.mode != ModeHold && d.Kind == llm.DeltaText && d.Text != "" ||
		c.mode != ModeHold && d.Kind == llm.DeltaThinking && (d.Text != "" || d.Redacted != "")
}

// closes reports whether d is held until the end of the answer, or until more of its frame:
// usage comes beside the end, and must not release it.
func (c *commit) closes(d llm.Delta) bool {
	return d.Kind == llm.DeltaCall || d.Kind == llm.DeltaStop || d.Kind == llm.DeltaUsage && len(c.held) > 0 || c.ending()
}

// ending reports whether a tool call or the end of the answer is held; then everything after it
// is, too.
func (c *commit) ending() bool {
	return slices.ContainsFunc(c.held, func(d llm.Delta) bool { return d.Kind == llm.DeltaCall || d.Kind == llm.DeltaStop })
}

// refused returns the response with which a provider of the caller's own wire refused the
// request, as it came; nil if there was no refusal.
func (c *commit) refused() (head *llm.Frame, body []byte) {
	for _, d := range c.held {
		switch {
		case d.Frame == nil:
		case d.Frame.Status > 0:
			head = d.Frame
		default:
			body = append(body, d.Frame.Data...)
		}
	}
	if head == nil || head.Status < 400 || head.Status >= 500 {
		return nil, nil
	}
	return head, body
}

// take returns what is held, and more, and empties the hold. The result is valid until the
// attempt is heard again, which is not before its last delta was passed on.
func (c *commit) take(more ...llm.Delta) []llm.Delta {
	c.held = append(c.held, more...)
	c.held, c.given = c.given[:0], c.held
	return c.given
}

// whole returns the rest of an answer that has proved complete.
func (c *commit) whole() []llm.Delta {
	c.sealed = c.attempt
	c.shown = recovery.ShownPart
	return c.take()
}

// seal ends an attempt and says how much of it the caller has.
func (c *commit) seal(attempt uint64) recovery.Shown {
	c.sealed = max(c.sealed, attempt)
	if attempt != c.attempt {
		return recovery.ShownNothing
	}
	return c.shown
}

// refusedItself reports whether f is a refusal by the model itself, which the caller gets as it
// came.
func (c *commit) refusedItself(f *failure.Failure) bool {
	n := len(c.held)
	return f.Kind == failure.KindContentFilter && n > 0 && c.held[n-1].Kind == llm.DeltaStop
}
