package anthropic

import (
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// voice writes one message as events: each block between its start and its stop.
type voice struct {
	head   wire.Head
	index  int    // of the open block, or of the next one
	inside string // the type of the open block: "thinking", "text", or "" for none
}

// NewVoice writes one answer.
func NewVoice(head wire.Head) wire.Voice { return &voice{head: head} }

type (
	frame struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta any    `json:"delta"`
	}
	textDelta struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingDelta struct {
		Type     string `json:"type"`
		Thinking string `json:"thinking"`
	}
)

func (v *voice) event(name string, data map[string]any, frames []byte) []byte {
	data["type"] = name
	return wire.Event(name, data, frames)
}

// Begin implements wire.Voice.
func (v *voice) Begin(usage llm.Usage, frames []byte) []byte {
	m := message(v.head)
	m["usage"] = counted(usage, 1)
	return v.Alive(v.event("message_start", map[string]any{"message": m}, frames))
}

func message(head wire.Head) map[string]any {
	return map[string]any{
		"id": head.ID, "type": "message", "role": "assistant", "model": head.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
}

// counted is a usage, with at least the given number of output tokens.
func counted(usage llm.Usage, least int64) map[string]any {
	out := map[string]any{"input_tokens": usage.InputTokens, "output_tokens": max(least, usage.OutputTokens)}
	if usage.CacheReadTokens > 0 {
		out["cache_read_input_tokens"] = usage.CacheReadTokens
	}
	if usage.CacheWriteTokens > 0 {
		out["cache_creation_input_tokens"] = usage.CacheWriteTokens
	}
	return out
}

func (v *voice) start(block map[string]any, frames []byte) []byte {
	return v.event("content_block_start", map[string]any{"index": v.index, "content_block": block}, frames)
}

func (v *voice) delta(delta any, frames []byte) []byte {
	return wire.Event("content_block_delta", frame{"content_block_delta", v.index, delta}, frames)
}

func (v *voice) stop(frames []byte) []byte {
	frames = v.event("content_block_stop", map[string]any{"index": v.index}, frames)
	v.index++
	v.inside = ""
	return frames
}

// enter opens a block of that type, unless one of that type is open.
func (v *voice) enter(kind string, empty map[string]any, frames []byte) []byte {
	if v.inside == kind {
		return frames
	}
	frames = v.leave(frames)
	v.inside = kind
	empty["type"] = kind
	return v.start(empty, frames)
}

// Leave implements wire.Parted.
func (v *voice) Leave(last int, frames []byte) []byte {
	frames = v.leave(frames)
	v.index = max(v.index, last+1)
	return frames
}

// leave ends the open block.
func (v *voice) leave(frames []byte) []byte {
	if v.inside == "" {
		return frames
	}
	return v.stop(frames)
}

// Text implements wire.Voice.
func (v *voice) Text(text string, frames []byte) []byte {
	frames = v.enter("text", map[string]any{"text": ""}, frames)
	return v.delta(textDelta{"text_delta", text}, frames)
}

// Thought implements wire.Voice. A signature ends its block.
func (v *voice) Thought(thought llm.Thinking, frames []byte) []byte {
	if thought.Redacted != "" {
		frames = v.leave(frames)
		return v.stop(v.start(map[string]any{"type": "redacted_thinking", "data": thought.Redacted}, frames))
	}
	frames = v.enter("thinking", map[string]any{"thinking": "", "signature": ""}, frames)
	if thought.Text != "" {
		frames = v.delta(thinkingDelta{"thinking_delta", thought.Text}, frames)
	}
	if thought.Signature == "" {
		return frames
	}
	return v.stop(v.delta(map[string]any{"type": "signature_delta", "signature": thought.Signature}, frames))
}

// Call implements wire.Voice.
func (v *voice) Call(call llm.ToolCall, frames []byte) []byte {
	frames = v.leave(frames)
	frames = v.start(toolUse(v.head, call, map[string]any{}), frames)
	for _, piece := range wire.Pieces(string(call.Args)) {
		frames = v.delta(map[string]any{"type": "input_json_delta", "partial_json": piece}, frames)
	}
	return v.stop(frames)
}

func toolUse(head wire.Head, call llm.ToolCall, input any) map[string]any {
	id := call.ID
	if id == "" {
		id = head.NewID("toolu_")
	}
	return map[string]any{"type": "tool_use", "id": id, "name": call.Name, "input": input}
}

// End implements wire.Voice.
func (v *voice) End(stop llm.StopReason, usage llm.Usage, frames []byte) []byte {
	frames = v.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reason(stop), "stop_sequence": nil},
		"usage": counted(usage, 0),
	}, v.leave(frames))
	return v.event("message_stop", map[string]any{}, frames)
}

// reason reverses stopReason.
func reason(stop llm.StopReason) string {
	switch stop {
	case llm.StopToolUse:
		return "tool_use"
	case llm.StopLength:
		return "max_tokens"
	case llm.StopFiltered:
		return "refusal"
	}
	return "end_turn"
}

// Alive implements wire.Voice.
func (v *voice) Alive(frames []byte) []byte { return v.event("ping", map[string]any{}, frames) }

// Fail implements wire.Voice.
func (v *voice) Fail(report wire.Report, frames []byte) []byte {
	return v.event("error", map[string]any{
		"error": map[string]any{"details": nil, "type": report.Type, "message": report.Message},
	}, frames)
}

// ErrorBody is the body of an answer that is an error.
func ErrorBody(report wire.Report, requestID string) []byte {
	return wire.Append(nil, map[string]any{
		"type": "error", "request_id": requestID,
		"error": map[string]any{"type": report.Type, "message": report.Message},
	})
}

// Document is an answer that is not streamed, as one document.
func Document(head wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte {
	content := []any{}
	for _, p := range said.Parts {
		switch {
		case p.Call != nil:
			content = append(content, toolUse(head, *p.Call, wire.Object(p.Call.Args)))
		case p.Thinking != nil && p.Thinking.Redacted != "":
			content = append(content, map[string]any{"type": "redacted_thinking", "data": p.Thinking.Redacted})
		case p.Thinking != nil:
			content = append(content, map[string]any{"type": "thinking", "thinking": p.Thinking.Text, "signature": p.Thinking.Signature})
		case p.Text != "":
			content = append(content, map[string]any{"type": "text", "text": p.Text})
		}
	}
	m := message(head)
	m["content"], m["stop_reason"], m["usage"] = content, reason(stop), counted(usage, 0)
	return wire.Append(nil, m)
}
