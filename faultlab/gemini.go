package faultlab

import (
	"fmt"
	"net/http"
	"strings"
)

// gemini is the Gemini API (POST /v1beta/models/{model}:generateContent and
// :streamGenerateContent).
var gemini = &wire{
	name: "gemini",
	keyed: func(r *http.Request) bool {
		return r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Get("key") != ""
	},
	keyless:      403,
	check:        checkGemini,
	fault:        geminiFault,
	invalid:      geminiInvalid,
	unknownModel: geminiUnknownModel,
	overloaded:   503,
	errorBody:    geminiErrorBody,
	whole:        geminiWhole,
	speak: func(a ask, emit func(string)) narrator {
		return &geminiStream{ask: a, emit: emit, id: newID("")}
	},
}

const geminiStreaming = "streamGenerateContent"

// geminiTarget takes the model and the method out of a path.
func geminiTarget(path string) (model, method string, ok bool) {
	target, ok := strings.CutPrefix(path, "/v1beta/models/")
	colon := strings.LastIndex(target, ":")
	if !ok || colon < 1 {
		return "", "", false
	}
	model, method = target[:colon], target[colon+1:]
	return model, method, method == "generateContent" || method == geminiStreaming
}

func geminiInvalid(status int, message string) *fault {
	return &fault{status: status, kind: "INVALID_ARGUMENT", message: message}
}

func geminiUnknownModel(model string) *fault {
	message := fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", model)
	return &fault{status: 404, kind: "NOT_FOUND", message: message}
}

func geminiFault(status int) *fault {
	kinds := map[int][2]string{
		401: {"UNAUTHENTICATED", "Request had invalid authentication credentials."},
		403: {"PERMISSION_DENIED", "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API identity to call this API."},
		404: {"NOT_FOUND", "Requested entity was not found."},
		413: {"INVALID_ARGUMENT", "Request payload size exceeds the limit."},
		429: {"RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
		503: {"UNAVAILABLE", "The model is overloaded. Please try again later."},
		504: {"DEADLINE_EXCEEDED", "Deadline expired before operation could complete."},
	}
	if k, ok := kinds[status]; ok {
		return &fault{status: status, kind: k[0], message: k[1]}
	}
	if status < 500 {
		return geminiInvalid(status, "Request contains an invalid argument.")
	}
	return &fault{status: status, kind: "INTERNAL", message: "An internal error has occurred. Please retry."}
}

func geminiErrorBody(f *fault, _ string) []byte {
	return encode(map[string]any{"error": map[string]any{"code": f.status, "message": f.message, "status": f.kind}})
}

func geminiWhole(a ask, r reply) []byte {
	parts := []any{}
	if r.thought != "" {
		parts = append(parts, geminiThought(r.thought))
	}
	if r.text != "" {
		parts = append(parts, map[string]any{"text": r.text})
	}
	for i, c := range r.calls {
		parts = append(parts, geminiCall(a, c, i == 0))
	}
	if r.thought != "" && len(r.calls) == 0 {
		parts = append(parts, map[string]any{"text": "", "thoughtSignature": a.seal})
	}
	return encode(geminiResponse(a, newID(""), parts, "STOP", r))
}

// geminiResponse is a whole answer, or a chunk of one; said is all that has
// been said so far.
func geminiResponse(a ask, id string, parts []any, finish string, said reply) map[string]any {
	candidate := map[string]any{"content": map[string]any{"parts": parts, "role": "model"}, "index": 0}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return map[string]any{
		"candidates": []any{candidate}, "usageMetadata": geminiUsage(a, said), "modelVersion": a.model, "responseId": id,
	}
}

func geminiUsage(a ask, r reply) map[string]any {
	thoughts := len(words(r.thought))
	out := max(r.tokens(), thoughts)
	usage := map[string]any{
		"promptTokenCount": a.tokens, "candidatesTokenCount": out - thoughts, "totalTokenCount": a.tokens + out,
	}
	if thoughts > 0 {
		usage["thoughtsTokenCount"] = thoughts
	}
	return usage
}

func geminiThought(text string) map[string]any { return map[string]any{"text": text, "thought": true} }

// geminiCall: the first call of an answer carries the signature; only newer
// models give their calls an id.
func geminiCall(a ask, c Call, isFirst bool) map[string]any {
	call := map[string]any{"name": c.Name, "args": c.value()}
	if signsCalls(a.model) {
		call["id"] = newID("")
	}
	part := map[string]any{"functionCall": call}
	if isFirst {
		part["thoughtSignature"] = a.seal
	}
	return part
}

// signsCalls tells if a model wants its calls back with their signature.
func signsCalls(model string) bool { return strings.HasPrefix(model, "gemini-3") }

// geminiStream streams one answer as chunks that are whole responses: events,
// or the elements of one JSON array.
type geminiStream struct {
	ask    ask
	emit   func(string)
	id     string
	frames int
	said   reply
}

func (s *geminiStream) frame(json []byte) {
	s.frames++
	switch {
	case !s.ask.array:
		s.emit(fmt.Sprintf("data: %s\r\n\r\n", json))
	case s.frames == 1:
		s.emit("[" + string(json))
	default:
		s.emit("\n,\r\n" + string(json))
	}
}

func (s *geminiStream) close() {
	if s.ask.array {
		s.emit("\n]\n")
	}
}

func (s *geminiStream) part(part map[string]any, finish string) {
	s.frame(encode(geminiResponse(s.ask, s.id, []any{part}, finish, s.said)))
}

// open: there is nothing before the first words.
func (s *geminiStream) open() {}

func (s *geminiStream) thought(chunk string) {
	s.said.thought += chunk
	s.part(geminiThought(chunk), "")
}

func (s *geminiStream) text(chunk string) {
	s.said.text += chunk
	s.part(map[string]any{"text": chunk}, "")
}

func (s *geminiStream) finish(calls []Call) {
	s.said.calls = calls
	for i, c := range calls {
		finish := ""
		if i == len(calls)-1 {
			finish = "STOP"
		}
		s.part(geminiCall(s.ask, c, i == 0), finish)
	}
	if len(calls) == 0 {
		last := map[string]any{"text": ""}
		if s.said.thought != "" {
			last["thoughtSignature"] = s.ask.seal
		}
		s.part(last, "STOP")
	}
	s.close()
}

func (s *geminiStream) overloaded() {
	s.frame(geminiErrorBody(geminiFault(gemini.overloaded), ""))
	s.close()
}
