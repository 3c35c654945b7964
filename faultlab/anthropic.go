package faultlab

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
)

// messagesAPI is the Messages API (POST /v1/messages).
var messagesAPI = &service{
	name:     "anthropic",
	idHeader: "Request-Id",
	keyed:    hasKey,
	keyless:  401,
	decode:   anthropic.Decode,
	check:    checkAnthropic,
	fault:    anthropicFault,
	invalid:  anthropicInvalid,
	unknownModel: func(model string) *wire.Report {
		return &wire.Report{Status: 404, Type: "not_found_error", Message: "model: " + model}
	},
	overloaded:  529,
	errorBody:   anthropic.ErrorBody,
	document:    anthropic.Document,
	speak:       func(_ ask, h wire.Head) wire.Voice { return anthropic.NewVoice(h) },
	id:          "msg_",
	callID:      func(string) string { return newID("toolu_") },
	thoughtSeal: func(a ask) string { return a.seal },
}

// hasKey reports whether there is a key. Anthropic and OpenAI have one header each, but gateways
// accept either for both.
func hasKey(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return r.Header.Get("X-Api-Key") != "" || strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != ""
}

func anthropicInvalid(status int, message string) *wire.Report {
	return &wire.Report{Status: status, Type: "invalid_request_error", Message: message}
}

func anthropicFault(status int) *wire.Report {
	messages := map[int]string{
		401: "invalid x-api-key",
		403: "Your API key does not have permission to use the specified resource.",
		404: "Not found",
		413: "Request exceeds the maximum size",
		429: "This request would exceed your organization's rate limit. Please try again later.",
		503: "Service temporarily unavailable",
		504: "Request timed out",
		529: "Overloaded",
	}
	message := cmp.Or(messages[status], "Internal server error")
	if status < 500 {
		message = cmp.Or(messages[status], "Invalid request")
	}
	return new(anthropic.Report("", status, message))
}
