package openai

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/wire"
)

// Report is an error of that kind on either of OpenAI's wires. status is the provider's HTTP
// status, or 0; if kind is empty, status alone decides.
func Report(kind failure.Kind, status int, message string) wire.Report {
	r := wire.Report{Status: wire.StatusOf(kind, status), Message: message}
	r.Type, r.Code = typeOf(r.Status), codes[kind]
	if r.Code == "" {
		r.Code = codeOf(r.Status)
	}
	if r.Code == insufficient {
		r.Type = insufficient
	}
	return r
}

const insufficient = "insufficient_quota"

// codes are the error codes by which clients decide. A used-up quota has the same code as missing
// money: asking again soon does not help in either case.
var codes = map[failure.Kind]string{
	failure.KindAuth:            "invalid_api_key",
	failure.KindBilling:         insufficient,
	failure.KindBudget:          insufficient,
	failure.KindQuota:           insufficient,
	failure.KindRateLimit:       "rate_limit_exceeded",
	failure.KindOverloaded:      "server_is_overloaded",
	failure.KindContextOverflow: "context_length_exceeded",
	failure.KindModelNotFound:   "model_not_found",
	failure.KindContentFilter:   "content_filter",
}

func codeOf(status int) string {
	switch status {
	case 401:
		return "invalid_api_key"
	case 429:
		return "rate_limit_exceeded"
	}
	return ""
}

func typeOf(status int) string {
	switch {
	case status == 429:
		return "requests"
	case status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}
