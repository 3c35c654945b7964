package autorecover

import (
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/recovery"
)

// says has what happened, in words that follow the model's name.
var says = map[recovery.Kind]string{
	recovery.KindTimeout:           "did not answer in time",
	recovery.KindUnreachable:       "could not be reached",
	recovery.KindTLS:               "has a certificate that was not accepted",
	recovery.KindAuth:              "refused the key",
	recovery.KindBilling:           "has no credit left",
	recovery.KindRateLimit:         "is rate limited",
	recovery.KindQuota:             "has used up its quota",
	recovery.KindOverloaded:        "is overloaded",
	recovery.KindUnavailable:       "is unavailable",
	recovery.KindStreamInterrupted: "broke off its answer",
	recovery.KindMalformedResponse: "sent an answer that cannot be read",
	recovery.KindEmptyResponse:     "sent an empty answer",
	recovery.KindContextOverflow:   "cannot take a conversation of this length",
	recovery.KindInvalidRequest:    "did not accept the request",
	recovery.KindContentFilter:     "refused to answer this",
	recovery.KindModelNotFound:     "was not found",
	recovery.KindOutputTruncated:   "reached its output limit",
	recovery.KindMisconfigured:     "is not set up correctly",
}

// happened is what went wrong as the beginning of a sentence.
func (in Input) happened() string {
	switch in.Failure.Kind {
	case recovery.KindToolFailure:
		return "a tool failed"
	case recovery.KindStepTimeout:
		return "no step was finished in time"
	case recovery.KindMaxTurnTime, recovery.KindRunTimeout:
		return "the run's time is over"
	case recovery.KindBudget:
		return "the run's budget is used up"
	case recovery.KindRoundLimit:
		return "the run's rounds are used up"
	case recovery.KindInterrupted:
		return "the program stopped during the call"
	case recovery.KindPromptFailure:
		return "the input could not become a request"
	case recovery.KindInternal:
		return "something broke inside the program"
	}
	what, ok := says[in.Failure.Kind]
	switch {
	case in.Failure.Variant == recovery.VariantKeyMissing: // nothing was sent, so nobody refused it
		what = "has no key"
	case !ok:
		what = "failed"
	}
	return short(in.Model) + " " + what
}

func retryReason(in Input) string {
	switch in.Failure.Kind {
	case recovery.KindToolFailure:
		return in.happened() + "; the agent can go on with the error"
	case recovery.KindMaxTurnTime, recovery.KindRunTimeout, recovery.KindBudget, recovery.KindRoundLimit:
		return in.happened() + "; it can go on if it gets more"
	case recovery.KindOutputTruncated:
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

// lastReason is for a retry with nothing else left.
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
