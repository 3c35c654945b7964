package wire

import (
	"github.com/mulligan-run/mulligan/failure"
)

// Report is an error in a provider's form. Each wire makes one from a kind of failure.
type Report struct {
	Status  int    // of the HTTP response
	Type    string // the wire's name for it: error.type, or Gemini's error.status
	Code    string // error.code; "" if the wire or the error has none
	Param   string // error.param; "" likewise
	Message string
}

// StatusOf is the HTTP status of an error of that kind: given if that is the status of an error,
// otherwise the status that means the same as kind.
func StatusOf(kind failure.Kind, given int) int {
	if given >= 400 && given < 600 {
		return given
	}
	switch kind {
	case failure.KindAuth:
		return 401
	case failure.KindBilling, failure.KindBudget:
		return 402
	case failure.KindRateLimit, failure.KindQuota:
		return 429
	case failure.KindModelNotFound:
		return 404
	case failure.KindContextOverflow, failure.KindInvalidRequest, failure.KindContentFilter, failure.KindOutputTruncated, failure.KindPromptFailure:
		return 400
	case failure.KindTimeout, failure.KindStepTimeout, failure.KindMaxTurnTime, failure.KindRunTimeout:
		return 504
	case failure.KindOverloaded, failure.KindUnavailable, failure.KindInterrupted:
		return 503
	case failure.KindUnreachable, failure.KindTLS, failure.KindStreamInterrupted, failure.KindMalformedResponse, failure.KindEmptyResponse, failure.KindMisconfigured:
		return 502
	}
	return 500
}
