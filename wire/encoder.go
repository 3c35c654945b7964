package wire

import "github.com/mulligan-run/mulligan/llm"

// Head is what an answer says about itself.
type Head struct {
	ID      string                     // of the answer, in its wire's form
	Model   string                     // the model that answers
	Created int64                      // seconds since 1970, for wires that include it
	NewID   func(prefix string) string // makes an unused id for a part that came without one
}

// Voice writes the parts of one answer as frames of a wire. Each method appends whole frames. An
// [Encoder] uses it.
type Voice interface {
	// Begin writes what comes before the first part; usage is what is known by then.
	Begin(usage llm.Usage, frames []byte) []byte
	// Text continues the answer.
	Text(text string, frames []byte) []byte
	// Thought continues the reasoning, or ends a piece of it with its signature.
	Thought(thought llm.Thinking, frames []byte) []byte
	// Call writes a whole tool call. Arguments that are not valid JSON are written as they are.
	Call(call llm.ToolCall, frames []byte) []byte
	// End writes the wire's terminal event, and everything that belongs to it.
	End(stop llm.StopReason, usage llm.Usage, frames []byte) []byte
	// Alive writes a frame that only shows that the server is alive, to be put before the first frame
	// or between any two; nothing if the wire has none.
	Alive(frames []byte) []byte
	// Fail ends an answer that has begun with an error, never with anything that could pass for a
	// terminal event.
	Fail(report Report, frames []byte) []byte
}

// Parted is a Voice whose parts are numbered, and have an end of their own.
type Parted interface {
	// Leave ends the open part, if there is one. What comes next begins another one, after the part
	// with the number last: one of a kind that is not spoken here may have come since.
	Leave(last int, frames []byte) []byte
}

// Encoder writes an answer as frames. It reverses [Decoder]: the deltas that Decode made of frames
// become frames that say the same.
//
// Text and reasoning are written as they come. Everything from the first tool call on is held back
// until the answer ends: on some wires calls come interleaved, on others they must not, and a call
// that is cut off must look as if it had not begun.
type Encoder struct {
	voice Voice
	usage llm.Usage
	held  *llm.Answer // from the first tool call on
}

// NewEncoder makes the Encoder of one answer.
func NewEncoder(voice Voice) *Encoder { return &Encoder{voice: voice} }

// Encode appends the frames of d: whole frames, or none.
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

// Leave ends the part with the number last, on a wire whose parts have an end of their own.
func (e *Encoder) Leave(last int, frames []byte) []byte {
	if voice, ok := e.voice.(Parted); ok && e.held == nil {
		return voice.Leave(last, frames)
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

// Fail ends the answer with an error. What was held back is dropped.
func (e *Encoder) Fail(report Report, frames []byte) []byte { return e.voice.Fail(report, frames) }

// Pieces cuts arguments in two, since every reader has to expect pieces, but never within a
// character.
func Pieces(args string) []string {
	cut := len(args) / 2
	for cut > 0 && args[cut]&0xC0 == 0x80 {
		cut--
	}
	return []string{args[:cut], args[cut:]}
}
