package observe

import (
	"slices"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
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

// framed is a piece of the answer without secrets, valid until the next one; nil if frames are not
// wanted.
func (t *exchange) framed(data []byte) *llm.Frame {
	if !t.ask.Frames || len(data) == 0 {
		return nil
	}
	t.piece = llm.Frame{Data: t.secrets.known.Bytes(data)}
	return &t.piece
}

// Room for the events of a usual batch.
const (
	batchText   = 256 // bytes
	batchEvents = 32
)

// batch is consecutive events that say more of the same. They become one delta with one frame if
// they were read together, because each delta costs more than the few words in it.
type batch struct {
	first llm.Delta
	text  []byte
	ends  []int  // of each event's text
	raw   []byte // of all of them, as a rule where they were read
}

// takes reports whether an event with these deltas says more of the same.
func (b *batch) takes(deltas []llm.Delta) bool {
	if len(deltas) != 1 {
		return false
	}
	switch d := &deltas[0]; d.Kind {
	case llm.DeltaText, llm.DeltaThinking, llm.DeltaArgs:
		plain := d.Text != "" && d.Signature == "" && d.Redacted == ""
		return plain && (len(b.ends) == 0 || d.Kind == b.first.Kind && d.Index == b.first.Index)
	}
	return false
}

func (b *batch) add(raw []byte, d llm.Delta) {
	if len(b.ends) == 0 {
		b.first = d
	}
	if b.text == nil {
		b.text, b.ends = make([]byte, 0, batchText), make([]int, 0, batchEvents)
	}
	b.text, b.raw = append(b.text, d.Text...), joined(b.raw, raw)
	b.ends = append(b.ends, len(b.text))
}

// joined is a followed by b, without a copy if b follows a in memory already.
func joined(a, b []byte) []byte {
	n := len(a)
	switch {
	case n == 0:
		return b
	case len(b) > 0 && cap(a)-n >= len(b) && &a[:n+1][n] == &b[0]:
		return a[:n+len(b)]
	}
	return append(slices.Clip(a), b...)
}

// delta is what the batch says, valid until more is added.
func (b *batch) delta() llm.Delta {
	d := b.first
	if len(b.ends) > 1 {
		d.Text, d.Ends = string(b.text), b.ends
	}
	return d
}

// gather adds an event to the batch if another one follows that may belong to it, too. Otherwise
// the event is to be told.
func (t *exchange) gather(raw []byte, deltas []llm.Delta) bool {
	if !t.more || t.decoder.State() != wire.Open || !t.batch.takes(deltas) {
		return false
	}
	t.batch.add(raw, deltas[0])
	return true
}

// tellEvent tells the batch and an event; err is that of its decoder. It reports whether to go on.
func (t *exchange) tellEvent(raw []byte, deltas []llm.Delta, err error) bool {
	if len(t.batch.ends) > 0 {
		if err == nil && t.batch.takes(deltas) {
			t.batch.add(raw, deltas[0])
			return t.tellBatch()
		}
		more := t.more
		t.more = true
		if !t.tellBatch() {
			return false
		}
		t.more = more
	}
	if err == nil {
		t.came = t.framed(raw)
	}
	return err != nil && len(deltas) == 0 || t.tell(deltas)
}

// tellBatch tells the batch, if there is one. It reports whether to go on.
func (t *exchange) tellBatch() bool {
	b := &t.batch
	if len(b.ends) == 0 {
		return true
	}
	t.came = t.framed(b.raw)
	d := b.delta()
	b.text, b.ends, b.raw = b.text[:0], b.ends[:0], nil
	return t.tell([]llm.Delta{d})
}
