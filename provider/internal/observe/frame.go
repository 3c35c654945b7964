package observe

import (
	"github.com/mulligan-run/mulligan/llm"
)

// head yields the head of the answer as a frame. It reports whether to go on.
func (t *exchange) head() bool {
	if !t.ask.Frames {
		return true
	}
	return t.yield(llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Status: t.status, Header: t.secrets.Header(t.header)}}, nil)
}

// allOf yields an answer that is not a stream as frames. It reports whether to go on.
func (t *exchange) allOf(body []byte) bool { return t.head() && t.frame(body) }

// frame yields a piece of the answer as it came. It reports whether to go on.
func (t *exchange) frame(data []byte) bool {
	f := t.framed(data)
	return f == nil || t.yieldOne(llm.Delta{Kind: llm.DeltaFrame, Frame: f, More: true}) // its deltas follow
}

// framed is a piece of the answer without secrets; nil if frames are not wanted.
func (t *exchange) framed(data []byte) *llm.Frame {
	if !t.ask.Frames || len(data) == 0 {
		return nil
	}
	return &llm.Frame{Data: []byte(t.secrets.known.Text(string(data)))}
}
