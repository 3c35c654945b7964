package autorecover

import "github.com/mulligan-run/mulligan/recovery"

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
	larger        // rather one with a larger context
)

// last says what to answer when neither retry nor switch is left.
type last int

const (
	giveUp        last = iota // fail: only other input helps
	offerOnly                 // retry at once: the runner offers it to a person and does not act on it itself
	offerOther                // the same, and the other models are only offered, too
	retryAnyhow               // retry: the runner offers what its limits forbid
	retryRepaired             // retry: a person repairs something first
	retryShorter              // retry with the conversation shortened, as often as that may help
)

// plans has a line for every kind.
var plans = map[recovery.Kind]plan{
	recovery.KindTimeout:           {often, others, retryAnyhow, false, false},
	recovery.KindUnreachable:       {often, others, retryAnyhow, false, true},
	recovery.KindRateLimit:         {often, others, retryAnyhow, false, false},
	recovery.KindOverloaded:        {often, others, retryAnyhow, false, false},
	recovery.KindUnavailable:       {often, others, retryAnyhow, false, false},
	recovery.KindStreamInterrupted: {often, others, retryAnyhow, false, false},
	recovery.KindMalformedResponse: {often, others, retryAnyhow, false, false},

	recovery.KindEmptyResponse:   {once, others, offerOnly, false, false},
	recovery.KindUnknown:         {once, others, offerOnly, false, false},
	recovery.KindOutputTruncated: {once, others, offerOnly, false, false},

	recovery.KindQuota:         {never, others, retryAnyhow, false, true},
	recovery.KindAuth:          {never, others, retryRepaired, false, true},
	recovery.KindBilling:       {never, others, retryRepaired, false, true},
	recovery.KindTLS:           {never, others, retryRepaired, false, true},
	recovery.KindMisconfigured: {never, others, retryRepaired, false, true},
	recovery.KindModelNotFound: {never, others, retryRepaired, false, false},

	recovery.KindContextOverflow: {never, larger, retryShorter, true, false},
	recovery.KindContentFilter:   {never, others, offerOther, false, true},
	recovery.KindInvalidRequest:  {never, others, giveUp, false, true},
	recovery.KindPromptFailure:   {never, stay, giveUp, false, false},
	recovery.KindInternal:        {never, stay, offerOnly, false, false},

	recovery.KindToolFailure: {often, stay, retryAnyhow, true, false},
	recovery.KindInterrupted: {often, stay, retryAnyhow, true, false},
	recovery.KindStepTimeout: {often, stay, retryAnyhow, false, false},
	recovery.KindMaxTurnTime: {often, stay, retryAnyhow, true, false},
	recovery.KindRunTimeout:  {often, stay, retryAnyhow, true, false},
	recovery.KindBudget:      {often, stay, retryAnyhow, true, false},
	recovery.KindRoundLimit:  {often, stay, retryAnyhow, true, false},
}

func planFor(f recovery.Failure) plan {
	p, ok := plans[f.Kind]
	switch {
	case !ok && f.Retryable:
		p = plan{retries: once, rotate: others, last: offerOnly}
	case !ok:
		p = plan{rotate: others, last: offerOnly}
	}
	if f.Origin == recovery.OriginTool {
		p.rotate = stay // another model does not mend a tool
	}
	return p
}
