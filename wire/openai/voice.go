package openai

import (
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// voice writes one completion as chunks.
type voice struct {
	head  wire.Head
	usage bool // the caller asked for it
	calls int
}

// NewVoice writes one answer. usage says that stream_options.include_usage was set. This wire
// cannot carry signatures of reasoning.
func NewVoice(head wire.Head, usage bool) wire.Voice { return &voice{head: head, usage: usage} }

type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
}

type chunkWithUsage struct {
	chunk
	Usage any `json:"usage"`
}

type choice struct {
	Index  int `json:"index"`
	Delta  any `json:"delta"`
	Finish any `json:"finish_reason"`
}

func (v *voice) chunk(choices []choice, usage any, frames []byte) []byte {
	c := chunk{v.head.ID, "chat.completion.chunk", v.head.Created, v.head.Model, choices}
	if v.usage {
		return wire.Event("", chunkWithUsage{c, usage}, frames)
	}
	return wire.Event("", c, frames)
}

func (v *voice) delta(delta, finish any, frames []byte) []byte {
	return v.chunk([]choice{{Delta: delta, Finish: finish}}, nil, frames)
}

// Begin implements wire.Voice.
func (v *voice) Begin(_ llm.Usage, frames []byte) []byte {
	return v.delta(map[string]any{"role": "assistant", "content": ""}, nil, frames)
}

// Text implements wire.Voice.
func (v *voice) Text(text string, frames []byte) []byte {
	return v.delta(struct {
		Content string `json:"content"`
	}{text}, nil, frames)
}

// Thought implements wire.Voice. The Chat Completions API has no reasoning; DeepSeek, vLLM and
// others send it as reasoning_content.
func (v *voice) Thought(thought llm.Thinking, frames []byte) []byte {
	if thought.Text == "" {
		return frames
	}
	return v.delta(struct {
		Thought string `json:"reasoning_content"`
	}{thought.Text}, nil, frames)
}

// Call implements wire.Voice: first the id and the name, then the arguments in pieces that have
// only the call's index.
func (v *voice) Call(call llm.ToolCall, frames []byte) []byte {
	first := toolCall(v.head, call)
	first["index"], first["function"] = v.calls, map[string]any{"name": call.Name, "arguments": ""}
	frames = v.delta(map[string]any{"tool_calls": []any{first}}, nil, frames)
	for _, part := range wire.Pieces(string(call.Args)) {
		piece := map[string]any{"index": v.calls, "function": map[string]any{"arguments": part}}
		frames = v.delta(map[string]any{"tool_calls": []any{piece}}, nil, frames)
	}
	v.calls++
	return frames
}

func toolCall(head wire.Head, call llm.ToolCall) map[string]any {
	id := call.ID
	if id == "" {
		id = head.NewID("call_")
	}
	return map[string]any{
		"id": id, "type": "function", "function": map[string]any{"name": call.Name, "arguments": string(call.Args)},
	}
}

// End implements wire.Voice.
func (v *voice) End(stop llm.StopReason, usage llm.Usage, frames []byte) []byte {
	frames = v.delta(map[string]any{}, finishReason(stop), frames)
	if v.usage {
		frames = v.chunk([]choice{}, counted(usage), frames)
	}
	return append(frames, "data: [DONE]\n\n"...)
}

// finishReason is the wire's name for a stop reason.
func finishReason(stop llm.StopReason) string {
	switch stop {
	case llm.StopToolUse:
		return "tool_calls"
	case llm.StopLength:
		return "length"
	case llm.StopFiltered:
		return "content_filter"
	}
	return "stop"
}

// counted converts a usage: on this wire the input includes tokens from a cache.
func counted(u llm.Usage) map[string]any {
	in := llm.Usage{InputTokens: u.InputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens}.Total()
	out := map[string]any{"prompt_tokens": in, "completion_tokens": u.OutputTokens, "total_tokens": llm.Sum(in, u.OutputTokens)}
	if u.CacheReadTokens > 0 {
		out["prompt_tokens_details"] = map[string]any{"cached_tokens": u.CacheReadTokens}
	}
	return out
}

// Alive implements wire.Voice.
func (v *voice) Alive(frames []byte) []byte { return wire.Comment(frames) }

// Fail implements wire.Voice. No [DONE] follows.
func (v *voice) Fail(report wire.Report, frames []byte) []byte {
	return append(append(append(frames, "data: "...), ErrorBody(report)...), "\n\n"...)
}

// ErrorBody is the body of an error response, on the Responses API too.
func ErrorBody(report wire.Report) []byte {
	return wire.Append(nil, map[string]any{"error": map[string]any{
		"message": report.Message, "type": report.Type, "param": wire.OrNull(report.Param), "code": wire.OrNull(report.Code),
	}})
}

// Document is an answer that is not streamed, as one document.
func Document(head wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte {
	message := map[string]any{"role": "assistant", "content": wire.OrNull(said.Text()), "refusal": nil}
	var thought string
	var calls []any
	for _, p := range said.Parts {
		switch {
		case p.Thinking != nil:
			thought += p.Thinking.Text
		case p.Call != nil:
			calls = append(calls, toolCall(head, *p.Call))
		}
	}
	if thought != "" {
		message["reasoning_content"] = thought
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return wire.Append(nil, map[string]any{
		"id": head.ID, "object": "chat.completion", "created": head.Created, "model": head.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finishReason(stop)}},
		"usage":   counted(usage),
	})
}
