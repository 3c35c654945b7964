package faultlab

import (
	"fmt"
	"time"
)

// responses is the OpenAI Responses API (POST /v1/responses).
var responses = &wire{
	name:         "responses",
	idHeader:     "X-Request-Id",
	keyed:        hasKey,
	keyless:      401,
	check:        checkResponses,
	fault:        openaiFault,
	invalid:      openaiInvalid,
	unknownModel: openaiUnknownModel,
	overloaded:   503,
	errorBody:    openaiErrorBody,
	whole:        responsesWhole,
	speak: func(a ask, emit func(string)) narrator {
		return &responsesStream{ask: a, emit: emit, id: newID("resp_"), created: time.Now().Unix(), output: []any{}}
	},
}

// responsesObject is the response itself, as far as it has come; usage is nil
// until the end.
func responsesObject(a ask, id string, created int64, status string, output []any, usage any) map[string]any {
	return map[string]any{
		"id": id, "object": "response", "created_at": created, "status": status, "background": false,
		"error": nil, "incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "metadata": map[string]any{},
		"model": a.model, "output": output, "parallel_tool_calls": true, "previous_response_id": nil,
		"reasoning": map[string]any{"effort": nil, "summary": nil}, "temperature": 1.0, "top_p": 1.0,
		"text": map[string]any{"format": map[string]any{"type": "text"}}, "tool_choice": "auto", "tools": []any{},
		"truncation": "disabled", "usage": usage,
	}
}

func responsesUsage(a ask, r reply) map[string]any {
	out := r.tokens()
	return map[string]any{
		"input_tokens": a.tokens, "input_tokens_details": map[string]any{"cached_tokens": 0},
		"output_tokens": out, "output_tokens_details": map[string]any{"reasoning_tokens": len(words(r.thought))},
		"total_tokens": a.tokens + out,
	}
}

func responsesWhole(a ask, r reply) []byte {
	output := []any{}
	if r.thought != "" {
		item := responsesReasoning()
		finishReasoning(item, a, r.thought)
		output = append(output, item)
	}
	if r.text != "" {
		item := responsesMessage()
		finishMessage(item, r.text)
		output = append(output, item)
	}
	for _, c := range r.calls {
		item := responsesCall(c)
		finishCall(item, c)
		output = append(output, item)
	}
	return encode(responsesObject(a, newID("resp_"), time.Now().Unix(), "completed", output, responsesUsage(a, r)))
}

// The items of an output begin empty and in progress; finish… completes them.

func responsesReasoning() map[string]any {
	return map[string]any{"id": newID("rs_"), "type": "reasoning", "summary": []any{}}
}

func finishReasoning(item map[string]any, a ask, thought string) {
	item["summary"] = []any{summaryText(thought)}
	if a.sealed {
		item["encrypted_content"] = a.seal
	}
}

func responsesMessage() map[string]any {
	return map[string]any{
		"id": newID("msg_"), "type": "message", "role": "assistant", "status": "in_progress", "content": []any{},
	}
}

func finishMessage(item map[string]any, text string) {
	item["status"], item["content"] = "completed", []any{outputText(text)}
}

func responsesCall(c Call) map[string]any {
	return map[string]any{
		"id": newID("fc_"), "type": "function_call", "status": "in_progress",
		"call_id": newID("call_"), "name": c.Name, "arguments": "",
	}
}

func finishCall(item map[string]any, c Call) {
	item["status"], item["arguments"] = "completed", c.args()
}

func summaryText(text string) map[string]any {
	return map[string]any{"type": "summary_text", "text": text}
}

func outputText(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// responsesStream streams one response: each item, and each part in it,
// between its added and its done.
type responsesStream struct {
	ask      ask
	emit     func(string)
	id       string
	created  int64
	sequence int
	output   []any          // the items that are done
	item     map[string]any // the item that is open, or nil
	said     reply
}

func (s *responsesStream) event(name string, data map[string]any) {
	data["type"], data["sequence_number"] = name, s.sequence
	s.sequence++
	s.emit(fmt.Sprintf("event: %s\ndata: %s\n\n", name, encode(data)))
}

func (s *responsesStream) lifecycle(name, status string, usage any) {
	s.event(name, map[string]any{"response": responsesObject(s.ask, s.id, s.created, status, s.output, usage)})
}

func (s *responsesStream) open() {
	s.lifecycle("response.created", "in_progress", nil)
	s.lifecycle("response.in_progress", "in_progress", nil)
}

func (s *responsesStream) add(item map[string]any) {
	s.item = item
	s.event("response.output_item.added", map[string]any{"output_index": len(s.output), "item": item})
}

func (s *responsesStream) done() {
	s.event("response.output_item.done", map[string]any{"output_index": len(s.output), "item": s.item})
	s.output, s.item = append(s.output, s.item), nil
}

func (s *responsesStream) inside(kind string) bool { return s.item != nil && s.item["type"] == kind }

// of is an event about the item that is open.
func (s *responsesStream) of(name string, data map[string]any) {
	data["item_id"], data["output_index"] = s.item["id"], len(s.output)
	s.event(name, data)
}

func (s *responsesStream) ofSummary(name, key string, value any) {
	s.of("response.reasoning_summary_"+name, map[string]any{"summary_index": 0, key: value})
}

func (s *responsesStream) ofContent(name, key string, value any) {
	s.of("response."+name, map[string]any{"content_index": 0, key: value})
}

func (s *responsesStream) thought(chunk string) {
	if !s.inside("reasoning") {
		s.add(responsesReasoning())
		s.ofSummary("part.added", "part", summaryText(""))
	}
	s.said.thought += chunk
	s.ofSummary("text.delta", "delta", chunk)
}

func (s *responsesStream) text(chunk string) {
	if !s.inside("message") {
		s.leave()
		s.add(responsesMessage())
		s.ofContent("content_part.added", "part", outputText(""))
	}
	s.said.text += chunk
	s.ofContent("output_text.delta", "delta", chunk)
}

// leave ends the item that is open.
func (s *responsesStream) leave() {
	switch {
	case s.inside("reasoning"):
		s.ofSummary("text.done", "text", s.said.thought)
		s.ofSummary("part.done", "part", summaryText(s.said.thought))
		finishReasoning(s.item, s.ask, s.said.thought)
		s.done()
	case s.inside("message"):
		s.ofContent("output_text.done", "text", s.said.text)
		s.ofContent("content_part.done", "part", outputText(s.said.text))
		finishMessage(s.item, s.said.text)
		s.done()
	}
}

func (s *responsesStream) call(c Call) {
	s.add(responsesCall(c))
	for _, part := range halves(c.args()) {
		s.of("response.function_call_arguments.delta", map[string]any{"delta": part})
	}
	s.of("response.function_call_arguments.done", map[string]any{"name": c.Name, "arguments": c.args()})
	finishCall(s.item, c)
	s.done()
}

func (s *responsesStream) finish(calls []Call) {
	s.leave()
	for _, c := range calls {
		s.call(c)
	}
	s.said.calls = calls
	s.lifecycle("response.completed", "completed", responsesUsage(s.ask, s.said))
}

// overloaded: the event has its members at the top, not in an "error".
func (s *responsesStream) overloaded() {
	s.event("error", map[string]any{"code": "server_is_overloaded", "message": overloadedMessage, "param": nil})
}
