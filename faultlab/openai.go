package faultlab

import (
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
	switch {
	case status == 401:
		return &wire.Report{Status: status, Type: "invalid_request_error", Code: "invalid_api_key", Message: "Incorrect API key provided."}
	case status == 413:
		return openaiInvalid(status, "Request body is too large.")
	case status == 429:
		return &wire.Report{Status: status, Type: "requests", Code: "rate_limit_exceeded", Message: "Rate limit reached for requests. Please try again later."}
	case status == 503:
		return &wire.Report{Status: status, Type: "server_error", Message: overloadedMessage}
	case status < 500:
		return openaiInvalid(status, "Invalid request.")
	}
	return &wire.Report{Status: status, Type: "server_error", Message: "The server had an error while processing your request. Sorry about that!"}
}

const overloadedMessage = "The server is currently overloaded with other requests. Sorry about that! Please try again later."

func openaiErrorBody(r wire.Report, _ string) []byte { return openai.ErrorBody(r) }
