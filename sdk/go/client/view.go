package client

import (
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
)

// View is what to show of a run. The zero value is ready to use.
type View struct {
	State  recovery.Run
	Notice string // a line for people, until the next event

	situation *recovery.Situation // the latest that the gateway sent
	attempt   uint64
	text      []byte // of the current attempt
	thinking  []byte
}

// Apply adds one item.
func (v *View) Apply(item Item) error {
	switch {
	case item.Delta != nil:
		v.delta(*item.Delta)
	case item.Event != nil:
		v.Notice = ""
		if err := v.State.Apply(*item.Event); err != nil {
			return fmt.Errorf("the view of the run: %w", err)
		}
		v.event(*item.Event)
	case item.Situation != nil:
		v.situation = item.Situation
	default:
		v.Notice = item.Notice
	}
	return nil
}

func (v *View) delta(d Delta) {
	if d.Attempt != v.attempt {
		return
	}
	if d.Thinking {
		v.thinking = grow(v.thinking, d.Offset, d.Text)
	} else {
		v.text = grow(v.text, d.Offset, d.Text)
	}
}

func (v *View) event(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Began:
		v.attempt, v.text, v.thinking = b.Attempt, nil, nil
		if a := v.State.Attempt; a != nil { // it continues another one's text
			v.text = append(v.text, a.Text...)
		}
	case recovery.Answered:
		v.attempt, v.text, v.thinking = 0, nil, nil
	case recovery.Failed:
		v.over(b.Attempt)
	case recovery.CancelRequested:
		v.over(b.Attempt)
	case recovery.Ended:
		v.over(0)
	}
}

// over takes what an attempt had said from the event that ends it.
func (v *View) over(attempt uint64) {
	a := v.State.Attempt
	if a == nil { // if an answer was asked for again, the first one is left
		v.attempt, v.text, v.thinking = 0, nil, nil
	} else if a.ID == attempt && v.attempt == attempt {
		v.text = []byte(a.Text)
	}
}

// grow appends a piece unless it is known already, or a piece before it is missing.
func grow(text []byte, offset int, piece string) []byte {
	if offset < 0 || offset > len(text) || offset+len(piece) <= len(text) {
		return text
	}
	return append(text[:offset:offset], piece...)
}

// Text is the answer so far: the text of the current attempt, or of the last answer.
func (v *View) Text() string {
	if len(v.text) > 0 {
		return string(v.text)
	}
	return v.State.Answer()
}

// Situation is what a person should see of the run, and can do: what the gateway sent last or,
// if newer events have arrived since, what follows from these. Its At method gives the texts
// and times for a moment.
func (v *View) Situation() recovery.Situation {
	if v.situation != nil && v.situation.Seq >= v.State.Seq {
		return *v.situation
	}
	return v.State.Situation()
}

// Heard is what has arrived of the current attempt, for Situation.At.
func (v *View) Heard() recovery.Heard {
	switch a := v.State.Attempt; {
	case a == nil || !a.InAir():
		return recovery.HeardNothing
	case len(v.text) > 0:
		return recovery.HeardText
	case len(v.thinking) > 0:
		return recovery.HeardReasoning
	}
	return recovery.HeardNothing
}

// Thinking is the current attempt's reasoning so far.
func (v *View) Thinking() string { return string(v.thinking) }

// Suggestion is what a person may choose from until its ExpiresAt; nil = none is open.
func (v *View) Suggestion() *recovery.Suggestion {
	if v.State.SuggestionOpen() {
		return v.State.Suggestion
	}
	return nil
}
