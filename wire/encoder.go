package wire

import "github.com/mulligan-run/mulligan/llm"

// Head is what an answer says of itself, beside what is said in it.
type Head struct {
	ID      string                     // of the answer, as its wire writes ids
	Model   string                     // who answers
	Created int64                      // seconds since 1970, for the wires that tell it
	NewID   func(prefix string) string // an id that no other has, for a part that came without one
}

// Voice writes the parts of one answer as frames of a wire. Each method appends whole
// frames. It is used by an [Encoder].
type Voice interface {
	// Begin is what comes before the first part; usage is what is known of it by then.
	Begin(usage llm.Usage, frames []byte) []byte
	// Text continues the answer.
	Text(text string, frames []byte) []byte
	// Thought continues the reasoning, or ends a piece of it with its signature.
	Thought(thought llm.Thinking, frames []byte) []byte
	// Call is a tool call as a whole. Arguments that are no JSON are written as they are.
	Call(call llm.ToolCall, frames []byte) []byte
	// End is the wire's terminal event, with whatever goes with it.
	End(stop llm.StopReason, usage llm.Usage, frames []byte) []byte
	// Alive is a sign of life that says nothing, for between frames; nothing at all where
	// the wire has none.
	Alive(frames []byte) []byte
	// Fail ends an answer that has begun with an error of the provider's, and never with
	// what could pass for a terminal event.
	Fail(report Report, frames []byte) []byte
}

// Encoder writes an answer as frames, which is a [Decoder] the other way round: what
// Decode made of frames comes out as frames that say the same.
//
// Text and reasoning are written as they come. From the first tool call on everything is
// held back until the answer ends: the calls of some wires come in each other's midst,
// those of others must not, and a call that is cut off must look as if it had not begun.
type Encoder struct {
	voice Voice
	usage llm.Usage
	held  *llm.Answer // from the first tool call on
}

// NewEncoder makes the Encoder of one answer.
func NewEncoder(voice Voice) *Encoder { return &Encoder{voice: voice} }

// Encode appends what d is on the wire to frames: whole frames, or none.
func (e *Encoder) Encode(d llm.Delta, frames []byte) []byte {
	switch {
	case d.Kind == llm.DeltaUsage:
		e.usage = d.Usage
	case d.Kind == llm.DeltaStop:
		return e.voice.End(d.Stop, e.usage, e.release(frames))
	case e.held != nil:
		e.held.Add(d)
	case d.Kind == llm.DeltaCall:
		e.held = &llm.Answer{}
		e.held.Add(d)
	case d.Kind == llm.DeltaStart:
		return e.voice.Begin(e.usage, frames)
	case d.Kind == llm.DeltaText:
		return e.voice.Text(d.Text, frames)
	case d.Kind == llm.DeltaThinking:
		return e.voice.Thought(llm.Thinking{Text: d.Text, Signature: d.Signature, Redacted: d.Redacted}, frames)
	}
	return frames
}

// release writes what was held back.
func (e *Encoder) release(frames []byte) []byte {
	if e.held == nil {
		return frames
	}
	for _, p := range e.held.Message("").Parts {
		switch {
		case p.Call != nil:
			frames = e.voice.Call(*p.Call, frames)
		case p.Thinking != nil:
			frames = e.voice.Thought(*p.Thinking, frames)
		default:
			frames = e.voice.Text(p.Text, frames)
		}
	}
	return frames
}

// Fail ends the answer with an error. What was held back is not said.
func (e *Encoder) Fail(report Report, frames []byte) []byte { return e.voice.Fail(report, frames) }

// Alive appends a sign of life, which may stand before the first frame and between any two.
func (e *Encoder) Alive(frames []byte) []byte { return e.voice.Alive(frames) }

// Pieces cuts arguments in two, as whoever reads them has to expect them, and never within
// a character.
func Pieces(args string) []string {
	cut := len(args) / 2
	for cut > 0 && args[cut]&0xC0 == 0x80 {
		cut--
	}
	return []string{args[:cut], args[cut:]}
}
