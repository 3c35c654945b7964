package faultlab

import (
	"fmt"
	"time"
)

// openai is the Chat Completions API (POST /v1/chat/completions).
var openai = &wire{
	name:         "openai",
	idHeader:     "X-Request-Id",
	keyed:        hasKey,
	keyless:      401,
	check:        checkOpenAI,
	fault:        openaiFault,
	invalid:      openaiInvalid,
	unknownModel: openaiUnknownModel,
	overloaded:   503,
	errorBody:    openaiErrorBody,
	whole:        openaiWhole,
	speak: func(a ask, emit func(string)) narrator {
		return &openaiStream{ask: a, emit: emit, id: newID("chatcmpl-"), created: time.Now().Unix()}
	},
}

func openaiInvalid(status int, message string) *fault {
	return &fault{status: status, kind: "invalid_request_error", message: message}
}

func openaiUnknownModel(model string) *fault {
	message := fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)
	return &fault{404, "invalid_request_error", "model_not_found", "", message}
}

func openaiFault(status int) *fault {
	switch {
	case status == 401:
		return &fault{status, "invalid_request_error", "invalid_api_key", "", "Incorrect API key provided."}
	case status == 413:
		return openaiInvalid(status, "Request body is too large.")
	case status == 429:
		return &fault{status, "requests", "rate_limit_exceeded", "", "Rate limit reached for requests. Please try again later."}
	case status == 503:
		return &fault{status, "server_error", "", "", overloadedMessage}
	case status < 500:
		return openaiInvalid(status, "Invalid request.")
	}
	return &fault{status, "server_error", "", "", "The server had an error while processing your request. Sorry about that!"}
}

const overloadedMessage = "The server is currently overloaded with other requests. Sorry about that! Please try again later."

func openaiErrorBody(f *fault, _ string) []byte {
	return encode(map[string]any{"error": map[string]any{
		"message": f.message, "type": f.kind, "param": orNull(f.param), "code": orNull(f.code),
	}})
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func openaiWhole(a ask, r reply) []byte {
	message := map[string]any{"role": "assistant", "content": orNull(r.text), "refusal": nil}
	if r.thought != "" {
		message["reasoning_content"] = r.thought
	}
	var calls []any
	for _, c := range r.calls {
		calls = append(calls, openaiCall(c))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return encode(map[string]any{
		"id": newID("chatcmpl-"), "object": "chat.completion", "created": time.Now().Unix(), "model": a.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": openaiFinish(r.calls)}},
		"usage":   openaiUsage(a, r),
	})
}

func openaiCall(c Call) map[string]any {
	return map[string]any{
		"id": newID("call_"), "type": "function",
		"function": map[string]any{"name": c.Name, "arguments": c.args()},
	}
}

func openaiFinish(calls []Call) string {
	if len(calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func openaiUsage(a ask, r reply) map[string]any {
	out := r.tokens()
	return map[string]any{"prompt_tokens": a.tokens, "completion_tokens": out, "total_tokens": a.tokens + out}
}

// openaiStream streams one completion as chunks.
type openaiStream struct {
	ask     ask
	emit    func(string)
	id      string
	created int64
	said    reply
}

func (s *openaiStream) chunk(choices []any, usage any) {
	c := map[string]any{
		"id": s.id, "object": "chat.completion.chunk", "created": s.created, "model": s.ask.model, "choices": choices,
	}
	if s.ask.usage {
		c["usage"] = usage
	}
	s.emit(fmt.Sprintf("data: %s\n\n", encode(c)))
}

func (s *openaiStream) delta(delta map[string]any, finish any) {
	s.chunk([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
}

func (s *openaiStream) open() {
	s.delta(map[string]any{"role": "assistant", "content": ""}, nil)
}

// thought is not of the Chat Completions API itself: reasoning_content is how
// DeepSeek, vLLM and others show reasoning on its wire.
func (s *openaiStream) thought(chunk string) {
	s.said.thought += chunk
	s.delta(map[string]any{"reasoning_content": chunk}, nil)
}

func (s *openaiStream) text(chunk string) {
	s.said.text += chunk
	s.delta(map[string]any{"content": chunk}, nil)
}

// call sends the id and the name first, then the arguments in pieces that
// carry the call's index only.
func (s *openaiStream) call(index int, c Call) {
	first := openaiCall(c)
	first["index"], first["function"] = index, map[string]any{"name": c.Name, "arguments": ""}
	s.delta(map[string]any{"tool_calls": []any{first}}, nil)
	for _, part := range halves(c.args()) {
		piece := map[string]any{"index": index, "function": map[string]any{"arguments": part}}
		s.delta(map[string]any{"tool_calls": []any{piece}}, nil)
	}
}

func (s *openaiStream) finish(calls []Call) {
	for i, c := range calls {
		s.call(i, c)
	}
	s.said.calls = calls
	s.delta(map[string]any{}, openaiFinish(calls))
	if s.ask.usage {
		s.chunk([]any{}, openaiUsage(s.ask, s.said))
	}
	s.emit("data: [DONE]\n\n")
}

func (s *openaiStream) overloaded() {
	f := openaiFault(openai.overloaded)
	s.emit(fmt.Sprintf("data: %s\n\n", openaiErrorBody(f, "")))
}
