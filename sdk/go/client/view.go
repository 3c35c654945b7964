package client

import (
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
)

// View is what is to be shown of a run. The zero value is ready to use.
type View struct {
	State  recovery.Run
	Notice string // a line for people; the next event takes it away

	attempt  uint64
	text     []byte // of the attempt at hand
	thinking []byte
}

// Apply folds one item in.
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
	case recovery.Checkpointed:
		if b.Attempt == v.attempt {
			v.text = grow(v.text, b.Offset, b.Text)
		}
	case recovery.Answered:
		v.attempt, v.text, v.thinking = 0, nil, nil
	case recovery.Failed, recovery.Ended:
		if v.State.Attempt == nil { // of an answer that was asked for once more, the first one is left
			v.attempt, v.text, v.thinking = 0, nil, nil
		}
	case recovery.Claimed: // the owner that spoke the rest is gone
		v.text, v.thinking = nil, nil
		if a := v.State.Attempt; a != nil {
			v.text = append(v.text, a.Text...)
		}
	}
}

// grow takes a piece unless it is known already, or one before it is missing.
func grow(text []byte, offset int, piece string) []byte {
	if offset < 0 || offset > len(text) || offset+len(piece) <= len(text) {
		return text
	}
	return append(text[:offset:offset], piece...)
}

// Text is the answer so far: the text of the attempt at hand, or of the last answer.
func (v *View) Text() string {
	if len(v.text) > 0 {
		return string(v.text)
	}
	return v.State.Answer()
}

// Thinking is the reasoning that the attempt at hand has shown so far.
func (v *View) Thinking() string { return string(v.thinking) }

// Suggestion is what a person may choose from until its ExpiresAt, nil unless one is open.
func (v *View) Suggestion() *recovery.Suggestion {
	if v.State.SuggestionOpen() {
		return v.State.Suggestion
	}
	return nil
}
