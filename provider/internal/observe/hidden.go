package observe

import (
	"crypto/rand"

	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/llm"
)

// hidden removes known secrets from an answer, even one that is spread over several deltas.
type hidden struct {
	known         *redact.Known
	text, thought redact.Stream
	args          map[int]*redact.Stream // by the index of the call
	last          llm.DeltaKind          // DeltaText or DeltaThinking, if some may be held back
	out           []llm.Delta            // reused, so that a delta costs no allocation
}

func newHidden(known *redact.Known) hidden {
	return hidden{known: known, text: *known.Stream(), thought: *known.Stream()}
}

// pass gives the deltas that may be yielded now. They are valid until the next call.
func (h *hidden) pass(deltas []llm.Delta) []llm.Delta {
	h.out = h.out[:0]
	for _, d := range deltas {
		if d.Kind != h.last {
			h.release(h.last)
		}
		switch d.Kind {
		case llm.DeltaText:
			d.Text = h.text.Push(d.Text)
		case llm.DeltaThinking:
			d.Text, d.Signature, d.Redacted = h.thought.Push(d.Text), h.known.Text(d.Signature), h.known.Text(d.Redacted)
		case llm.DeltaCall:
			d.CallID, d.Name, d.Signature = h.id(d.CallID), h.known.Text(d.Name), h.known.Text(d.Signature)
		case llm.DeltaArgs:
			d.Text = h.of(d.Index).Push(d.Text)
		}
		h.last = d.Kind
		if (d.Kind != llm.DeltaText && d.Kind != llm.DeltaArgs || d.Text != "") && !isNothing(d) {
			h.out = append(h.out, d)
		}
	}
	return h.out
}

// isNothing reports whether a piece of reasoning has become empty.
func isNothing(d llm.Delta) bool {
	return d.Kind == llm.DeltaThinking && d.Text == "" && d.Signature == "" && d.Redacted == ""
}

// rest gives what is still held back when nothing more follows.
func (h *hidden) rest() []llm.Delta {
	h.out = h.out[:0]
	h.release(h.last)
	for index, args := range h.args {
		if text := args.Flush(); text != "" {
			h.out = append(h.out, llm.Delta{Kind: llm.DeltaArgs, Index: index, Text: text})
		}
	}
	return h.out
}

// release gives what is held back of a kind, before something else is yielded.
func (h *hidden) release(kind llm.DeltaKind) {
	text := ""
	switch kind {
	case llm.DeltaText:
		text = h.text.Flush()
	case llm.DeltaThinking:
		text = h.thought.Flush()
	}
	if text != "" {
		h.out = append(h.out, llm.Delta{Kind: kind, Text: text})
	}
}

// of is the stream of a call's arguments.
func (h *hidden) of(index int) *redact.Stream {
	if h.args == nil {
		h.args = map[int]*redact.Stream{}
	}
	if h.args[index] == nil {
		h.args[index] = h.known.Stream()
	}
	return h.args[index]
}

// id is a call's id. One that contains a secret is replaced, with a different id for each call.
func (h *hidden) id(id string) string {
	if h.known.Text(id) == id {
		return id
	}
	return "call_" + rand.Text()
}
