package faultlab

import (
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

// hasKey: Anthropic and OpenAI have a header each, but gateways take either for both.
func hasKey(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return r.Header.Get("X-Api-Key") != "" || strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != ""
}

func anthropicInvalid(status int, message string) *wire.Report {
	return &wire.Report{Status: status, Type: "invalid_request_error", Message: message}
}

func anthropicFault(status int) *wire.Report {
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
		return &wire.Report{Status: status, Type: k[0], Message: k[1]}
	}
	if status < 500 {
		return anthropicInvalid(status, "Invalid request")
	}
	return &wire.Report{Status: status, Type: "api_error", Message: "Internal server error"}
}
