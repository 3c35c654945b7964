package gemini

import (
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// voice writes one answer as chunks that are whole responses: events, or the elements of one JSON
// array.
type voice struct {
	head  wire.Head
	array bool
	begun bool
	usage llm.Usage
}

// NewVoice writes one answer; array is for requests without alt=sse.
func NewVoice(head wire.Head, array bool) wire.Voice { return &voice{head: head, array: array} }

type response struct {
	Candidates []candidate `json:"candidates"`
	Usage      any         `json:"usageMetadata"`
	Model      string      `json:"modelVersion"`
	ID         string      `json:"responseId"`
}

type candidate struct {
	Content struct {
		Parts []any  `json:"parts"`
		Role  string `json:"role"`
	} `json:"content"`
	Finish string `json:"finishReason,omitempty"`
	Index  int    `json:"index"`
}

func respond(head wire.Head, parts []any, finish string, usage llm.Usage) response {
	c := candidate{Finish: finish}
	c.Content.Parts, c.Content.Role = parts, "model"
	return response{[]candidate{c}, counted(usage), head.Model, head.ID}
}

// counted converts a usage: on this wire the input includes tokens from a cache.
func counted(u llm.Usage) map[string]any {
	in := llm.Usage{InputTokens: u.InputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens}.Total()
	out := map[string]any{"promptTokenCount": in, "candidatesTokenCount": u.OutputTokens, "totalTokenCount": llm.Sum(in, u.OutputTokens)}
	if u.CacheReadTokens > 0 {
		out["cachedContentTokenCount"] = u.CacheReadTokens
	}
	return out
}

func (v *voice) frame(value any, frames []byte) []byte {
	first := !v.begun
	v.begun = true
	switch {
	case !v.array:
		return append(wire.Append(append(frames, "data: "...), value), "\r\n\r\n"...)
	case first:
		return wire.Append(append(frames, '['), value)
	}
	return wire.Append(append(frames, "\n,\r\n"...), value)
}

func (v *voice) part(part any, finish string, frames []byte) []byte {
	return v.frame(respond(v.head, []any{part}, finish, v.usage), frames)
}

// Begin implements wire.Voice: this wire writes nothing before the first part.
func (v *voice) Begin(usage llm.Usage, frames []byte) []byte {
	v.usage = usage
	return frames
}

// Text implements wire.Voice.
func (v *voice) Text(text string, frames []byte) []byte { return v.part(textPart(text), "", frames) }

// Thought implements wire.Voice. A signature without text belongs to the text before it.
func (v *voice) Thought(thought llm.Thinking, frames []byte) []byte {
	part := thoughtPart(thought)
	if part == nil {
		return frames
	}
	return v.part(part, "", frames)
}

// Call implements wire.Voice.
func (v *voice) Call(call llm.ToolCall, frames []byte) []byte {
	return v.part(callPart(call), "", frames)
}

func textPart(text string) map[string]any { return map[string]any{"text": text} }

// thoughtPart is nil if there is nothing to say.
func thoughtPart(thought llm.Thinking) map[string]any {
	if thought.Text == "" && thought.Signature == "" {
		return nil
	}
	part := textPart(thought.Text)
	if thought.Text != "" {
		part["thought"] = true
	}
	if thought.Signature != "" {
		part["thoughtSignature"] = thought.Signature
	}
	return part
}

// callPart includes an id only if the call has one: earlier models give none.
func callPart(call llm.ToolCall) map[string]any {
	function := map[string]any{"name": call.Name, "args": wire.Object(call.Args)}
	if call.ID != "" {
		function["id"] = call.ID
	}
	part := map[string]any{"functionCall": function}
	if call.Signature != "" {
		part["thoughtSignature"] = call.Signature
	}
	return part
}

// End implements wire.Voice.
func (v *voice) End(stop llm.StopReason, usage llm.Usage, frames []byte) []byte {
	v.usage = usage
	return v.close(v.part(textPart(""), finishReason(stop), frames))
}

// finishReason is the wire's name for a stop reason.
func finishReason(stop llm.StopReason) string {
	switch stop {
	case llm.StopLength:
		return "MAX_TOKENS"
	case llm.StopFiltered:
		return "SAFETY"
	}
	return "STOP"
}

func (v *voice) close(frames []byte) []byte {
	if v.array {
		return append(frames, "\n]\n"...)
	}
	return frames
}

// Alive implements wire.Voice. It writes nothing: clients of this wire fail on comments.
func (v *voice) Alive(frames []byte) []byte { return frames }

// Fail implements wire.Voice.
func (v *voice) Fail(report wire.Report, frames []byte) []byte {
	return v.close(v.frame(failed(report), frames))
}

func failed(report wire.Report) any {
	return map[string]any{"error": map[string]any{"code": report.Status, "message": report.Message, "status": report.Type}}
}

// ErrorBody is the body of an answer that is an error.
func ErrorBody(report wire.Report) []byte { return wire.Append(nil, failed(report)) }

// Document is an answer that is not streamed, as one document.
func Document(head wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte {
	parts := []any{}
	for _, p := range said.Parts {
		switch {
		case p.Call != nil:
			parts = append(parts, callPart(*p.Call))
		case p.Thinking != nil:
			if part := thoughtPart(*p.Thinking); part != nil {
				parts = append(parts, part)
			}
		case p.Text != "":
			parts = append(parts, textPart(p.Text))
		}
	}
	return wire.Append(nil, respond(head, parts, finishReason(stop), usage))
}
