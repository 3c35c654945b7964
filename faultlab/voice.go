package faultlab

import (
	"encoding/json"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// voice writes one reply on the wire of its service.
type voice struct {
	exchange *exchange
	head     wire.Head
	encoder  *wire.Encoder
}

func (x *exchange) newVoice() *voice {
	v := &voice{exchange: x, head: wire.Head{
		ID: newID(x.service.id), Model: x.ask.model, Created: time.Now().Unix(), NewID: newID,
	}}
	v.encoder = wire.NewEncoder(x.service.speak(x.ask, v.head))
	return v
}

func (v *voice) say(deltas ...llm.Delta) {
	var frames []byte
	for _, d := range deltas {
		frames = v.encoder.Encode(d, frames)
	}
	if len(frames) > 0 {
		v.exchange.emit(string(frames))
	}
}

// sealThought ends the reasoning of a reply with its seal, if the wire has one there.
func (v *voice) sealThought(r reply) {
	if seal := v.thoughtSeal(r); seal != "" {
		v.say(llm.Delta{Kind: llm.DeltaThinking, Signature: seal})
	}
}

func (v *voice) thoughtSeal(r reply) string {
	if r.thought == "" || v.exchange.service.thoughtSeal == nil {
		return ""
	}
	return v.exchange.service.thoughtSeal(v.exchange.ask)
}

// finish writes the calls of a reply, and ends the answer.
func (v *voice) finish(r reply) {
	message, stop := v.message(r)
	var deltas []llm.Delta
	for i, p := range message.Parts {
		switch {
		case p.Call != nil:
			deltas = append(deltas,
				llm.Delta{Kind: llm.DeltaCall, Index: i, CallID: p.Call.ID, Name: p.Call.Name, Signature: p.Call.Signature},
				llm.Delta{Kind: llm.DeltaArgs, Index: i, Text: string(p.Call.Args)})
		case p.Thinking != nil && p.Thinking.Text == "": // the seal at the end
			deltas = append(deltas, llm.Delta{Kind: llm.DeltaThinking, Signature: p.Thinking.Signature})
		}
	}
	v.say(append(deltas, llm.Delta{Kind: llm.DeltaUsage, Usage: v.usage(r)}, llm.Delta{Kind: llm.DeltaStop, Stop: stop})...)
}

// message is the reply as a message.
func (v *voice) message(r reply) (llm.Message, llm.StopReason) {
	m, stop := llm.Message{Role: llm.RoleAssistant}, llm.StopEnd
	x := v.exchange
	if r.thought != "" {
		m.Parts = append(m.Parts, llm.Part{Thinking: &llm.Thinking{Text: r.thought, Signature: v.thoughtSeal(r)}})
	}
	if r.text != "" {
		m.Parts = append(m.Parts, llm.Part{Text: r.text})
	}
	for i, c := range r.calls {
		stop = llm.StopToolUse
		call := &llm.ToolCall{ID: x.service.callID(x.ask.model), Name: c.Name, Args: json.RawMessage(c.args())}
		if i == 0 && x.service.callSeal {
			call.Signature = x.ask.seal
		}
		m.Parts = append(m.Parts, llm.Part{Call: call})
	}
	if x.service.callSeal && r.thought != "" && len(r.calls) == 0 {
		m.Parts = append(m.Parts, llm.Part{Thinking: &llm.Thinking{Signature: x.ask.seal}})
	}
	return m, stop
}

func (v *voice) usage(r reply) llm.Usage {
	u := llm.Usage{InputTokens: int64(v.exchange.ask.tokens)}
	if r.speaks() {
		u.OutputTokens = int64(r.tokens())
	}
	return u
}

func (r reply) speaks() bool { return r.thought+r.text != "" || len(r.calls) > 0 }

// tokens is a rough count, so that usage adds up.
func (r reply) tokens() int {
	n := len(words(r.thought)) + len(words(r.text))
	for _, c := range r.calls {
		n += 8 + len(c.Args)/4
	}
	return max(n, 1)
}

func (c Call) args() string {
	if c.Args == "" {
		return "{}"
	}
	return c.Args
}

// overload is how a stream of the service reports that it is overloaded.
func (s *service) overload() wire.Report {
	report := *s.fault(s.overloaded)
	if s.overloadCode != "" {
		report.Code = s.overloadCode
	}
	return report
}
