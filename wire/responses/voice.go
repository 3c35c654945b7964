package responses

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// voice writes one response: each item, and each part of it, between its added and done events.
type voice struct {
	head     wire.Head
	sequence int
	output   []any          // finished items
	unknown  int            // how many items of other kinds have their places, too
	item     map[string]any // the open item, or nil
	said     strings.Builder
}

// NewVoice writes one answer. It can carry only signatures of reasoning that [Sign] made.
func NewVoice(head wire.Head) wire.Voice { return &voice{head: head, output: []any{}} }

// Sign is the signature of reasoning that can be sent back: its item's id and its encrypted
// content.
func Sign(id, encrypted string) string { return proof{id, encrypted}.signature() }

// object is the response object so far; usage is nil until the end.
func object(head wire.Head, status string, output []any, usage any) map[string]any {
	return map[string]any{
		"id": head.ID, "object": "response", "created_at": head.Created, "status": status, "background": false,
		"error": nil, "incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "metadata": map[string]any{},
		"model": head.Model, "output": output, "parallel_tool_calls": true, "previous_response_id": nil,
		"reasoning": map[string]any{"effort": nil, "summary": nil}, "temperature": 1.0, "top_p": 1.0,
		"text": map[string]any{"format": map[string]any{"type": "text"}}, "tool_choice": "auto", "tools": []any{},
		"truncation": "disabled", "usage": usage,
	}
}

// ended is the response object at its end, and its status.
func ended(head wire.Head, stop llm.StopReason, output []any, usage llm.Usage) (map[string]any, string) {
	status, reason := "completed", ""
	switch stop {
	case llm.StopLength:
		status, reason = "incomplete", "max_output_tokens"
	case llm.StopFiltered:
		status, reason = "incomplete", "content_filter"
	}
	o := object(head, status, output, counted(usage))
	if reason != "" {
		o["incomplete_details"] = map[string]any{"reason": reason}
	}
	return o, status
}

// counted converts a usage: on this wire the input includes tokens from a cache.
func counted(u llm.Usage) map[string]any {
	in := llm.Usage{InputTokens: u.InputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens}.Total()
	return map[string]any{
		"input_tokens": in, "input_tokens_details": map[string]any{"cached_tokens": u.CacheReadTokens},
		"output_tokens": u.OutputTokens, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": llm.Sum(in, u.OutputTokens),
	}
}

// Items of a streamed output begin empty and in progress; whole ones are made from the message.

func reasoning(head wire.Head, thought llm.Thinking) map[string]any {
	item := map[string]any{"id": head.NewID("rs_"), "type": "reasoning", "summary": []any{}}
	if thought.Text != "" {
		item["summary"] = []any{summaryText(thought.Text)}
	}
	seal(item, thought.Signature)
	return item
}

// seal adds the contents of a signature to a reasoning item.
func seal(item map[string]any, signature string) {
	var p proof
	if json.Unmarshal([]byte(signature), &p) != nil || p.Encrypted == "" {
		return
	}
	item["encrypted_content"] = p.Encrypted
	if p.ID != "" {
		item["id"] = p.ID
	}
}

func message(head wire.Head) map[string]any {
	return map[string]any{
		"id": head.NewID("msg_"), "type": "message", "role": "assistant", "status": "in_progress", "content": []any{},
	}
}

func functionCall(head wire.Head, call llm.ToolCall) map[string]any {
	id := call.ID
	if id == "" {
		id = head.NewID("call_")
	}
	return map[string]any{
		"id": head.NewID("fc_"), "type": "function_call", "status": "in_progress", "call_id": id, "name": call.Name, "arguments": "",
	}
}

func summaryText(text string) map[string]any {
	return map[string]any{"type": "summary_text", "text": text}
}

func outputText(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func (v *voice) event(name string, data map[string]any, frames []byte) []byte {
	data["type"], data["sequence_number"] = name, v.sequence
	v.sequence++
	return wire.Event(name, data, frames)
}

// Begin implements wire.Voice.
func (v *voice) Begin(_ llm.Usage, frames []byte) []byte {
	for _, name := range []string{"response.created", "response.in_progress"} {
		frames = v.event(name, map[string]any{"response": object(v.head, "in_progress", v.output, nil)}, frames)
	}
	return frames
}

func (v *voice) add(item map[string]any, frames []byte) []byte {
	v.item = item
	v.said.Reset()
	return v.event("response.output_item.added", map[string]any{"output_index": v.at(), "item": item}, frames)
}

func (v *voice) done(frames []byte) []byte {
	frames = v.event("response.output_item.done", map[string]any{"output_index": v.at(), "item": v.item}, frames)
	v.output, v.item = append(v.output, v.item), nil
	return frames
}

func (v *voice) inside(kind string) bool { return v.item != nil && v.item["type"] == kind }

// of is an event about the open item.
func (v *voice) of(name string, data map[string]any, frames []byte) []byte {
	data["item_id"], data["output_index"] = v.item["id"], v.at()
	return v.event(name, data, frames)
}

func (v *voice) ofSummary(name, key string, value any, frames []byte) []byte {
	return v.of("response.reasoning_summary_"+name, map[string]any{"summary_index": 0, key: value}, frames)
}

func (v *voice) ofContent(name, key string, value any, frames []byte) []byte {
	return v.of("response."+name, map[string]any{"content_index": 0, key: value}, frames)
}

// Thought implements wire.Voice. A signature ends its item.
func (v *voice) Thought(thought llm.Thinking, frames []byte) []byte {
	if !v.inside("reasoning") {
		frames = v.add(reasoning(v.head, llm.Thinking{Signature: thought.Signature}), v.leave(frames))
	}
	if thought.Text != "" {
		if v.said.Len() == 0 {
			frames = v.ofSummary("part.added", "part", summaryText(""), frames)
		}
		v.said.WriteString(thought.Text)
		frames = v.ofSummary("text.delta", "delta", thought.Text, frames)
	}
	if thought.Signature == "" {
		return frames
	}
	id := v.item["id"]
	seal(v.item, thought.Signature)
	v.item["id"] = id // the one in the added event
	return v.leave(frames)
}

// Text implements wire.Voice.
func (v *voice) Text(text string, frames []byte) []byte {
	if !v.inside("message") {
		frames = v.add(message(v.head), v.leave(frames))
		frames = v.ofContent("content_part.added", "part", outputText(""), frames)
	}
	v.said.WriteString(text)
	return v.ofContent("output_text.delta", "delta", text, frames)
}

// Leave implements wire.Parted.
func (v *voice) Leave(last int, frames []byte) []byte {
	frames = v.leave(frames)
	v.unknown = max(v.unknown, last+1-len(v.output))
	return frames
}

// at is the place of the open item, or of the next one.
func (v *voice) at() int { return len(v.output) + v.unknown }

// leave ends the open item.
func (v *voice) leave(frames []byte) []byte {
	text := v.said.String()
	switch {
	case v.inside("reasoning"):
		if text != "" {
			frames = v.ofSummary("text.done", "text", text, frames)
			frames = v.ofSummary("part.done", "part", summaryText(text), frames)
			v.item["summary"] = []any{summaryText(text)}
		}
		return v.done(frames)
	case v.inside("message"):
		frames = v.ofContent("output_text.done", "text", text, frames)
		frames = v.ofContent("content_part.done", "part", outputText(text), frames)
		v.item["status"], v.item["content"] = "completed", []any{outputText(text)}
		return v.done(frames)
	}
	return frames
}

// Call implements wire.Voice.
func (v *voice) Call(call llm.ToolCall, frames []byte) []byte {
	frames = v.add(functionCall(v.head, call), v.leave(frames))
	args := string(call.Args)
	for _, piece := range wire.Pieces(args) {
		frames = v.of("response.function_call_arguments.delta", map[string]any{"delta": piece}, frames)
	}
	frames = v.of("response.function_call_arguments.done", map[string]any{"name": call.Name, "arguments": args}, frames)
	v.item["status"], v.item["arguments"] = "completed", args
	return v.done(frames)
}

// End implements wire.Voice.
func (v *voice) End(stop llm.StopReason, usage llm.Usage, frames []byte) []byte {
	frames = v.leave(frames)
	response, status := ended(v.head, stop, v.output, usage)
	return v.event("response."+status, map[string]any{"response": response}, frames)
}

// Alive implements wire.Voice.
func (v *voice) Alive(frames []byte) []byte { return wire.Comment(frames) }

// Fail implements wire.Voice: an event with the error's members at its top level, and then the
// failed response. Some clients know only the first, others only the second.
func (v *voice) Fail(report wire.Report, frames []byte) []byte {
	frames = v.event("error", map[string]any{
		"code": wire.OrNull(report.Code), "message": report.Message, "param": wire.OrNull(report.Param),
	}, frames)
	response := object(v.head, "failed", v.output, nil)
	response["error"] = map[string]any{"code": cmp.Or(report.Code, "server_error"), "message": report.Message}
	return v.event("response.failed", map[string]any{"response": response}, frames)
}

// Document is an answer that is not streamed, as one document.
func Document(head wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte {
	output := []any{}
	for _, p := range said.Parts {
		switch {
		case p.Thinking != nil:
			output = append(output, reasoning(head, *p.Thinking))
		case p.Call != nil:
			item := functionCall(head, *p.Call)
			item["status"], item["arguments"] = "completed", string(p.Call.Args)
			output = append(output, item)
		case p.Text != "":
			item := message(head)
			item["status"], item["content"] = "completed", []any{outputText(p.Text)}
			output = append(output, item)
		}
	}
	response, _ := ended(head, stop, output, usage)
	return wire.Append(nil, response)
}
