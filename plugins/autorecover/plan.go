package autorecover

import (
	"github.com/mulligan-run/mulligan/failure"
)

// plan is what to try for a kind of failure, and in which order.
type plan struct {
	retries  retries
	rotate   rotate
	last     last
	atOnce   bool // retry without a pause
	entryOff bool // the whole provider entry is in doubt: prefer another
}

// retries says how often the same model is worth asking again by itself.
type retries int

const (
	never retries = iota
	once
	often
)

// rotate says which other model may help.
type rotate int

const (
	stay   rotate = iota
	others        // every alternative
	larger        // preferably one with a larger context
)

// last says what to answer when neither retry nor switch is left.
type last int

const (
	giveUp        last = iota // fail: only other input helps
	offerOnly                 // retry at once: the runner does not act on it, but offers it to a person
	offerOther                // the same, and the other models are only offered, too
	retryAnyhow               // retry: if the runner's limits forbid it, it is offered
	retryRepaired             // retry: a person repairs something first
	retryShorter              // retry with the conversation shortened, as often as that may help
)

// plans has an entry for every kind.
var plans = map[failure.Kind]plan{
	failure.KindTimeout:           {often, others, retryAnyhow, false, false},
	failure.KindUnreachable:       {often, others, retryAnyhow, false, true},
	failure.KindRateLimit:         {often, others, retryAnyhow, false, false},
	failure.KindOverloaded:        {often, others, retryAnyhow, false, false},
	failure.KindUnavailable:       {often, others, retryAnyhow, false, false},
	failure.KindStreamInterrupted: {often, others, retryAnyhow, false, false},
	failure.KindMalformedResponse: {often, others, retryAnyhow, false, false},

	failure.KindEmptyResponse:   {once, others, offerOnly, false, false},
	failure.KindUnknown:         {once, others, offerOnly, false, false},
	failure.KindOutputTruncated: {once, others, offerOnly, false, false},

	failure.KindQuota:         {never, others, retryAnyhow, false, true},
	failure.KindAuth:          {never, others, retryRepaired, false, true},
	failure.KindBilling:       {never, others, retryRepaired, false, true},
	failure.KindTLS:           {never, others, retryRepaired, false, true},
	failure.KindMisconfigured: {never, others, retryRepaired, false, true},
	failure.KindModelNotFound: {never, others, retryRepaired, false, false},

	failure.KindContextOverflow: {never, larger, retryShorter, true, false},
	failure.KindContentFilter:   {never, others, offerOther, false, true},
	failure.KindInvalidRequest:  {never, others, giveUp, false, true},
	failure.KindPromptFailure:   {never, stay, giveUp, false, false},
	failure.KindInternal:        {never, stay, offerOnly, false, false},

	failure.KindToolFailure: {often, stay, retryAnyhow, true, false},
	failure.KindInterrupted: {often, stay, retryAnyhow, true, false},
	failure.KindStepTimeout: {often, stay, retryAnyhow, false, false},
	failure.KindMaxTurnTime: {often, stay, retryAnyhow, true, false},
	failure.KindRunTimeout:  {often, stay, retryAnyhow, true, false},
	failure.KindBudget:      {often, stay, retryAnyhow, true, false},
	failure.KindRoundLimit:  {often, stay, retryAnyhow, true, false},
}

func planFor(f failure.Failure) plan {
	p, ok := plans[f.Kind]
	switch {
	case !ok && f.Retryable:
		p = plan{retries: once, rotate: others, last: offerOnly}
	case !ok:
		p = plan{rotate: others, last: offerOnly}
	}
	if f.Origin == failure.OriginTool {
		p.rotate = stay // another model does not repair a tool
	}
	return p
}
