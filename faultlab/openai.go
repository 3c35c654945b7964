package faultlab

import (
	"cmp"
	"fmt"

	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/openai"
)

// chatAPI is the Chat Completions API (POST /v1/chat/completions).
var chatAPI = &service{
	name:         "openai",
	idHeader:     "X-Request-Id",
	keyed:        hasKey,
	keyless:      401,
	decode:       openai.Decode,
	check:        checkOpenAI,
	fault:        openaiFault,
	invalid:      openaiInvalid,
	unknownModel: openaiUnknownModel,
	overloaded:   503,
	errorBody:    openaiErrorBody,
	document:     openai.Document,
	speak:        func(a ask, h wire.Head) wire.Voice { return openai.NewVoice(h, a.usage) },
	id:           "chatcmpl-",
	callID:       func(string) string { return newID("call_") },
}

func openaiInvalid(status int, message string) *wire.Report {
	return &wire.Report{Status: status, Type: "invalid_request_error", Message: message}
}

func openaiUnknownModel(model string) *wire.Report {
	message := fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)
	return &wire.Report{Status: 404, Type: "invalid_request_error", Code: "model_not_found", Message: message}
}

func openaiFault(status int) *wire.Report {
	messages := map[int]string{
		401: "Incorrect API key provided.",
		413: "Request body is too large.",
		429: "Rate limit reached for requests. Please try again later.",
		503: overloadedMessage,
	}
	message := cmp.Or(messages[status], "The server had an error while processing your request. Sorry about that!")
	if status < 500 {
		message = cmp.Or(messages[status], "Invalid request.")
	}
	return new(openai.Report("", status, message))
}

const overloadedMessage = "The server is currently overloaded with other requests. Sorry about that! Please try again later."

func openaiErrorBody(r wire.Report, _ string) []byte { return openai.ErrorBody(r) }
