package autorecover

import (
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
)

// says is what happened, in words that follow the model's name.
var says = map[failure.Kind]string{
	failure.KindTimeout:           "did not answer in time",
	failure.KindUnreachable:       "could not be reached",
	failure.KindTLS:               "has a certificate that was not accepted",
	failure.KindAuth:              "refused the key",
	failure.KindBilling:           "has no credit left",
	failure.KindRateLimit:         "is rate limited",
	failure.KindQuota:             "has used up its quota",
	failure.KindOverloaded:        "is overloaded",
	failure.KindUnavailable:       "is unavailable",
	failure.KindStreamInterrupted: "broke off its answer",
	failure.KindMalformedResponse: "sent an answer that cannot be read",
	failure.KindEmptyResponse:     "sent an empty answer",
	failure.KindContextOverflow:   "cannot take a conversation of this length",
	failure.KindInvalidRequest:    "did not accept the request",
	failure.KindContentFilter:     "refused to answer this",
	failure.KindModelNotFound:     "was not found",
	failure.KindOutputTruncated:   "reached its output limit",
	failure.KindMisconfigured:     "is not set up correctly",
}

// happened is what went wrong as the beginning of a sentence.
func (in Input) happened() string {
	switch in.Failure.Kind {
	case failure.KindToolFailure:
		return "a tool failed"
	case failure.KindStepTimeout:
		return "no step was finished in time"
	case failure.KindMaxTurnTime, failure.KindRunTimeout:
		return "the run's time is over"
	case failure.KindBudget:
		return "the run's budget is used up"
	case failure.KindRoundLimit:
		return "the run's rounds are used up"
	case failure.KindInterrupted:
		return "the program stopped during the call"
	case failure.KindPromptFailure:
		return "the input could not become a request"
	case failure.KindInternal:
		return "something broke inside the program"
	}
	what, ok := says[in.Failure.Kind]
	switch {
	case in.Failure.Variant == failure.VariantKeyMissing: // nothing was sent, so nobody refused it
		what = "has no key"
	case !ok:
		what = "failed"
	}
	return short(in.Model) + " " + what
}

func retryReason(in Input) string {
	switch in.Failure.Kind {
	case failure.KindToolFailure:
		return in.happened() + "; the agent can go on with the error"
	case failure.KindMaxTurnTime, failure.KindRunTimeout, failure.KindBudget, failure.KindRoundLimit:
		return in.happened() + "; it can go on if it gets more"
	case failure.KindOutputTruncated:
		return in.happened() + "; a larger limit may do"
	}
	return in.happened() + "; it may pass"
}

func switchReason(in Input, model string) string {
	standing := "has not failed"
	if in.fitness(model) != untried {
		standing = "failed earlier, but may answer now"
	}
	return in.happened() + in.afterRetries() + "; " + short(model) + " " + standing
}

// lastReason is for a retry when nothing else is left.
func lastReason(in Input, p plan) string {
	line := in.happened() + in.afterRetries()
	switch {
	case p.last == retryRepaired:
		return line + "; try again once that is repaired"
	case asked(in.Failure, in.Now) > 0:
		return line + "; it can be asked again later"
	}
	return line + ", and there is no other model to ask"
}

func failReason(in Input) string {
	return in.happened() + in.afterRetries() + "; asking again unchanged will not help"
}

func (in Input) afterRetries() string {
	switch n := in.retriesOfModel(); n {
	case 0:
		return ""
	case 1:
		return " after 1 retry"
	default:
		return fmt.Sprintf(" after %d retries", n)
	}
}

// short is a model's name without its provider entry.
func short(model string) string {
	if _, name, ok := strings.Cut(model, "/"); ok && name != "" {
		return name
	}
	if model == "" {
		return "the model"
	}
	return model
}
