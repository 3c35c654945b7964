package faultlab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// anthropic is the Messages API (POST /v1/messages).
var anthropic = &wire{
	name:         "anthropic",
	idHeader:     "Request-Id",
	keyed:        hasKey,
	keyless:      401,
	check:        checkAnthropic,
	fault:        anthropicFault,
	invalid:      anthropicInvalid,
	unknownModel: func(model string) *fault { return &fault{404, "not_found_error", "", "", "model: " + model} },
	overloaded:   529,
	errorBody:    anthropicErrorBody,
	whole:        anthropicWhole,
	speak: func(a ask, emit func(string)) narrator {
		return &anthropicStream{ask: a, emit: emit}
	},
}

// hasKey: Anthropic and OpenAI have a header each, but gateways take either for both.
func hasKey(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return r.Header.Get("X-Api-Key") != "" || strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != ""
}

func anthropicInvalid(status int, message string) *fault {
	return &fault{status: status, kind: "invalid_request_error", message: message}
}

func anthropicFault(status int) *fault {
	kinds := map[int][2]string{
		401: {"authentication_error", "invalid x-api-key"},
		403: {"permission_error", "Your API key does not have permission to use the specified resource."},
		404: {"not_found_error", "Not found"},
		413: {"request_too_large", "Request exceeds the maximum size"},
		429: {"rate_limit_error", "This request would exceed your organization's rate limit. Please try again later."},
		503: {"api_error", "Service temporarily unavailable"},
		504: {"timeout_error", "Request timed out"},
		529: {"overloaded_error", "Overloaded"},
	}
	if k, ok := kinds[status]; ok {
		return &fault{status: status, kind: k[0], message: k[1]}
	}
	if status < 500 {
		return anthropicInvalid(status, "Invalid request")
	}
	return &fault{status: status, kind: "api_error", message: "Internal server error"}
}

func anthropicErrorBody(f *fault, id string) []byte {
	return encode(map[string]any{
		"type":       "error",
		"error":      map[string]any{"type": f.kind, "message": f.message},
		"request_id": id,
	})
}

func anthropicWhole(a ask, r reply) []byte {
	content := []any{}
	if r.thought != "" {
		content = append(content, map[string]any{"type": "thinking", "thinking": r.thought, "signature": a.seal})
	}
	if r.text != "" {
		content = append(content, map[string]any{"type": "text", "text": r.text})
	}
	for _, c := range r.calls {
		content = append(content, map[string]any{"type": "tool_use", "id": newID("toolu_"), "name": c.Name, "input": c.value()})
	}
	m := anthropicMessage(a)
	m["content"] = content
	m["stop_reason"] = anthropicStop(r.calls)
	m["usage"] = map[string]any{"input_tokens": a.tokens, "output_tokens": r.tokens()}
	return encode(m)
}

func anthropicMessage(a ask) map[string]any {
	return map[string]any{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": a.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": a.tokens, "output_tokens": 1},
	}
}

func anthropicStop(calls []Call) string {
	if len(calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// value is the call's arguments as JSON; as a string if they are not JSON.
func (c Call) value() any {
	if json.Valid([]byte(c.args())) {
		return json.RawMessage(c.args())
	}
	return c.args()
}

func (c Call) args() string {
	if c.Args == "" {
		return "{}"
	}
	return c.Args
}

// tokens is a rough count, enough for usage to add up.
func (r reply) tokens() int {
	n := len(words(r.thought)) + len(words(r.text))
	for _, c := range r.calls {
		n += 8 + len(c.Args)/4
	}
	return max(n, 1)
}

// anthropicStream streams one message: each block between its start and stop.
type anthropicStream struct {
	ask    ask
	emit   func(string)
	index  int    // of the block that is open, or comes next
	inside string // the type of the block that is open: "thinking", "text" or none
	said   reply
}

func (s *anthropicStream) event(name string, data map[string]any) {
	data["type"] = name
	s.emit(fmt.Sprintf("event: %s\ndata: %s\n\n", name, encode(data)))
}

func (s *anthropicStream) open() {
	s.event("message_start", map[string]any{"message": anthropicMessage(s.ask)})
	s.event("ping", map[string]any{})
}

func (s *anthropicStream) start(block map[string]any) {
	s.event("content_block_start", map[string]any{"index": s.index, "content_block": block})
}

func (s *anthropicStream) delta(delta map[string]any) {
	s.event("content_block_delta", map[string]any{"index": s.index, "delta": delta})
}

func (s *anthropicStream) stop() {
	s.event("content_block_stop", map[string]any{"index": s.index})
	s.index++
}

// enter makes sure that a block of the kind is open.
func (s *anthropicStream) enter(kind string, empty map[string]any) {
	if s.inside != kind {
		s.leave()
		s.inside = kind
		empty["type"] = kind
		s.start(empty)
	}
}

// leave ends the block that is open; reasoning ends with its signature.
func (s *anthropicStream) leave() {
	if s.inside == "thinking" {
		s.delta(map[string]any{"type": "signature_delta", "signature": s.ask.seal})
	}
	if s.inside != "" {
		s.stop()
	}
	s.inside = ""
}

func (s *anthropicStream) thought(chunk string) {
	s.enter("thinking", map[string]any{"thinking": "", "signature": ""})
	s.said.thought += chunk
	s.delta(map[string]any{"type": "thinking_delta", "thinking": chunk})
}

func (s *anthropicStream) text(chunk string) {
	s.enter("text", map[string]any{"text": ""})
	s.said.text += chunk
	s.delta(map[string]any{"type": "text_delta", "text": chunk})
}

func (s *anthropicStream) call(c Call) {
	s.start(map[string]any{"type": "tool_use", "id": newID("toolu_"), "name": c.Name, "input": map[string]any{}})
	for _, part := range halves(c.args()) {
		s.delta(map[string]any{"type": "input_json_delta", "partial_json": part})
	}
	s.stop()
}

func (s *anthropicStream) finish(calls []Call) {
	s.leave()
	for _, c := range calls {
		s.call(c)
	}
	s.said.calls = calls
	s.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": anthropicStop(calls), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": s.said.tokens()},
	})
	s.event("message_stop", map[string]any{})
}

func (s *anthropicStream) overloaded() {
	s.event("error", map[string]any{
		"error": map[string]any{"details": nil, "type": "overloaded_error", "message": "Overloaded"},
	})
}

// halves cuts arguments in two, so that they arrive in pieces, but never
// within a character.
func halves(text string) []string {
	cut := len(text) / 2
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return []string{text[:cut], text[cut:]}
}
