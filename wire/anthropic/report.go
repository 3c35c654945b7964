package anthropic

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/wire"
)

// Report is an error of that kind on this wire. status is the provider's HTTP status, or 0; if kind
// is empty, status alone decides.
func Report(kind failure.Kind, status int, message string) wire.Report {
	if kind == failure.KindOverloaded && status < 400 {
		status = overloaded
	}
	r := wire.Report{Status: wire.StatusOf(kind, status), Message: message}
	r.Type = typeOf(r.Status)
	if kind == failure.KindOverloaded {
		r.Type = "overloaded_error"
	}
	return r
}

const overloaded = 529

func typeOf(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 504:
		return "timeout_error"
	case overloaded:
		return "overloaded_error"
	}
	if status < 500 {
		return "invalid_request_error"
	}
	return "api_error"
}
