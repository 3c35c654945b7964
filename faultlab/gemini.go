package faultlab

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/gemini"
)

// geminiAPI is the Gemini API (POST /v1beta/models/{model}:generateContent and
// :streamGenerateContent).
var geminiAPI = &service{
	name: "gemini",
	keyed: func(r *http.Request) bool {
		return r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Get("key") != ""
	},
	keyless:      403,
	decode:       gemini.Decode,
	check:        checkGemini,
	fault:        geminiFault,
	invalid:      geminiInvalid,
	unknownModel: geminiUnknownModel,
	overloaded:   503,
	errorBody:    func(r wire.Report, _ string) []byte { return gemini.ErrorBody(r) },
	document:     gemini.Document,
	speak:        func(a ask, h wire.Head) wire.Voice { return gemini.NewVoice(h, a.array) },
	callID:       geminiCallID,
	callSeal:     true,
}

const geminiStreaming = "streamGenerateContent"

// geminiTarget reads the model and the method from a path.
func geminiTarget(path string) (model, method string, ok bool) {
	target, ok := strings.CutPrefix(path, "/v1beta/models/")
	colon := strings.LastIndex(target, ":")
	if !ok || colon < 1 {
		return "", "", false
	}
	model, method = target[:colon], target[colon+1:]
	return model, method, method == "generateContent" || method == geminiStreaming
}

func geminiInvalid(status int, message string) *wire.Report {
	return &wire.Report{Status: status, Type: "INVALID_ARGUMENT", Message: message}
}

func geminiUnknownModel(model string) *wire.Report {
	message := fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", model)
	return &wire.Report{Status: 404, Type: "NOT_FOUND", Message: message}
}

func geminiFault(status int) *wire.Report {
	messages := map[int]string{
		401: "Request had invalid authentication credentials.",
		403: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API identity to call this API.",
		404: "Requested entity was not found.",
		413: "Request payload size exceeds the limit.",
		429: "Resource has been exhausted (e.g. check quota).",
		503: "The model is overloaded. Please try again later.",
		504: "Deadline expired before operation could complete.",
	}
	message := cmp.Or(messages[status], "An internal error has occurred. Please retry.")
	if status < 500 {
		message = cmp.Or(messages[status], "Request contains an invalid argument.")
	}
	return new(gemini.Report("", status, message))
}

// signsCalls reports whether a model wants its calls back with their signatures.
func signsCalls(model string) bool { return strings.HasPrefix(model, "gemini-3") }

// geminiCallID is an id for a model's call; only newer models give one.
func geminiCallID(model string) string {
	if !signsCalls(model) {
		return ""
	}
	return newID("")
}
