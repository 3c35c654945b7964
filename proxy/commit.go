package proxy

import (
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Mode says what becomes of an answer that breaks off after its caller has seen a part of it.
type Mode string

// The modes.
const (
	ModeContinue Mode = "continue" // another call goes on from there where that can be done, else it is as ModeError
	ModeHold     Mode = "hold"     // there is no such answer: the caller gets it once it is whole
	ModeError    Mode = "error"    // it ends with an error
)

// commit decides what of a call's attempts its caller gets. It is a state machine without a
// clock and without a connection; whoever has both asks it under a lock.
type commit struct {
	mode     Mode
	attempt  uint64 // that is heard now
	attempts int
	model    string      // that is asked now, by its full name
	held     []llm.Delta // heard of the attempt, and not passed on
	shown    recovery.Shown
	framed   bool      // the attempt is told as it came
	sealed   uint64    // attempts up to this one say nothing more
	usage    llm.Usage // of the attempt
	spent    llm.Usage // of those before it
	usages   usage     // as its caller's wire tells them
}

// began makes attempt the one that is heard. Of the one before nothing counts any more that
// was not passed on but what it cost. One that is asked in another way, since its provider
// refused the first, begins twice.
func (c *commit) began(attempt uint64, model string) {
	if attempt != c.attempt {
		c.sealed = max(c.sealed, c.attempt)
		c.attempts++
	}
	c.spent = c.spent.Plus(c.usage)
	c.attempt, c.model, c.usage, c.held = attempt, model, llm.Usage{}, nil
	c.framed = false
}

// goesOn makes attempt the one that is heard, and what it says the rest of what the one before
// has said. That is told in words from here on, and no longer as it came.
func (c *commit) goesOn(attempt uint64, model string) {
	held := slices.DeleteFunc(c.held, func(d llm.Delta) bool { return d.Kind == llm.DeltaFrame })
	c.began(attempt, model)
	c.held = held
}

// heard gives what the caller gets now of what was heard; false where the attempt is not
// heard any more.
func (c *commit) heard(attempt uint64, d llm.Delta) (out []llm.Delta, ok bool) {
	if attempt != c.attempt || attempt <= c.sealed {
		return nil, false
	}
	switch d.Kind {
	case llm.DeltaPing, llm.DeltaRepaired:
		return nil, true
	case llm.DeltaFrame:
		return c.frame(d), true
	case llm.DeltaUsage:
		c.usage = d.Usage
		d.Usage = d.Usage.Plus(c.spent)
	}
	if c.shown == recovery.ShownNothing && !c.opens(d) || c.closes(d) {
		c.held = append(c.held, d)
		return nil, true
	}
	c.shown = recovery.ShownPart
	return c.take(d), true
}

// frame takes a piece of the answer as it came. What it means comes after it, so that it waits
// for that, and for the next one where it means nothing that is shown.
func (c *commit) frame(d llm.Delta) []llm.Delta {
	c.framed = true
	if d.Frame != nil && d.Frame.Status == 0 && c.spent != (llm.Usage{}) {
		d.Frame = &llm.Frame{Data: c.usages.plus(d.Frame.Data, c.spent)}
	}
	if c.shown == recovery.ShownNothing || c.ending() {
		c.held = append(c.held, d)
		return nil
	}
	before := c.take()
	c.held = append(make([]llm.Delta, 0, 2), d) // with room for what it means
	return before
}

// opens reports whether d is content with which the answer begins for its caller. A tool call
// is none: it is held back until it is whole, and whoever writes it sees to that.
func (c *commit) opens(d llm.Delta) bool {
	return c.mode != ModeHold && d.Kind == llm.DeltaText && d.Text != "" ||
		c.mode != ModeHold && d.Kind == llm.DeltaThinking && (d.Text != "" || d.Redacted != "")
}

// closes reports whether d waits for the end of the answer, or for more of the frame that it is
// in: what was used is told beside the end, and must not take that along.
func (c *commit) closes(d llm.Delta) bool {
	return d.Kind == llm.DeltaCall || d.Kind == llm.DeltaStop || d.Kind == llm.DeltaUsage && len(c.held) > 0 || c.ending()
}

// ending reports whether a tool call or the end of the answer is held, and all that follows.
func (c *commit) ending() bool {
	return slices.ContainsFunc(c.held, func(d llm.Delta) bool { return d.Kind == llm.DeltaCall || d.Kind == llm.DeltaStop })
}

// refused gives what a provider of the caller's own wire answered to a request that it does not
// take, as it came; nil where that is not what it said.
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

// take gives what is held and more, and holds nothing.
func (c *commit) take(more ...llm.Delta) []llm.Delta {
	out := c.held
	c.held = nil
	return append(out, more...)
}

// whole gives the rest of the answer, which was found to be one.
func (c *commit) whole() []llm.Delta {
	c.sealed = c.attempt
	c.shown = recovery.ShownPart
	return c.take()
}

// seal ends an attempt, and says what of it the caller has. Nothing of it follows.
func (c *commit) seal(attempt uint64) recovery.Shown {
	c.sealed = max(c.sealed, attempt)
	if attempt != c.attempt {
		return recovery.ShownNothing
	}
	return c.shown
}

// refusedItself reports whether f is how the model itself ended its answer: its caller gets
// that as it came.
func (c *commit) refusedItself(f *failure.Failure) bool {
	n := len(c.held)
	return f.Kind == failure.KindContentFilter && n > 0 && c.held[n-1].Kind == llm.DeltaStop
}
