package gemini

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/wire"
)

// Report is an error of that kind on this wire. status is the provider's HTTP status, or 0; if kind
// is empty, status alone decides.
func Report(kind failure.Kind, status int, message string) wire.Report {
	r := wire.Report{Status: wire.StatusOf(kind, status), Message: message}
	switch {
	case r.Status == 401:
		r.Type = "UNAUTHENTICATED"
	case r.Status == 402:
		r.Type = "FAILED_PRECONDITION"
	case r.Status == 403:
		r.Type = "PERMISSION_DENIED"
	case r.Status == 404:
		r.Type = "NOT_FOUND"
	case r.Status == 429:
		r.Type = "RESOURCE_EXHAUSTED"
	case r.Status == 502, r.Status == 503, r.Status == 529:
		r.Type = "UNAVAILABLE"
	case r.Status == 504:
		r.Type = "DEADLINE_EXCEEDED"
	case r.Status < 500:
		r.Type = "INVALID_ARGUMENT"
	default:
		r.Type = "INTERNAL"
	}
	return r
}
