package recovery

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// A failure that may pass by itself gets time as well as a number of attempts: if the attempts of a
// call are used up before its patience is over, each model that failed is asked once more shortly
// before that.

// The pause before a model that has failed during the call is asked again: the first value, and how
// often it doubles.
const (
	firstBackoff = failure.Millis(1000)
	doublings    = 2
)

// roundTime is how long before the end of a call's patience its last round begins, unless a quarter
// of that patience is less.
const roundTime = failure.Millis(5000)

// backoff is the least pause before a switch to model: zero without AutoRecover, and if model has
// not failed during the call.
func (r *Run) backoff(model string) failure.Millis {
	failures := 0
	for _, t := range r.Call.Tried {
		if t.Model == model {
			failures++
		}
	}
	if failures == 0 || !r.Policy.AutoRecover {
		return 0
	}
	return firstBackoff << min(failures-1, doublings)
}

// withPatience turns d into the last round, or into the next model in it, if the attempts of the
// call are used up and its patience is not over.
func (r *Run) withPatience(d Decision) Decision {
	switch {
	case !r.Policy.AutoRecover || r.Policy.MaxRetries <= 0 || !r.isTransient():
		return d
	case r.Call.LastRound:
		return r.nextInRound(d)
	case d.BlockedBy != blockedAttempts && d.BlockedBy != blockedRetries:
		return d
	}
	end := r.patienceEnd()
	begins := end.Add(-min(end.Sub(r.Call.FailedAt)/4, roundTime.Duration()))
	left := failure.InMillis(begins.Sub(r.Open.At))
	if left <= 0 {
		return d
	}
	last, then := d, *r
	last.LastRound, last.Delay = true, max(d.Delay, left)
	then.Call.LastRound = true
	if r.Open.At.Add(last.Delay.Duration()).After(end) || then.blocked(last) != "" {
		return d
	}
	last.BlockedBy = ""
	return last
}

// patienceEnd is when the patience of the current call is over: at the caller's deadline at the
// latest.
func (r *Run) patienceEnd() time.Time {
	end := r.Call.FailedAt.Add(r.Policy.Timeouts.Patience.Duration())
	if !r.WaitsUntil.IsZero() && r.WaitsUntil.Before(end) {
		return r.WaitsUntil
	}
	return end
}

// nextInRound switches to the next model of the last round that has not been asked in it. If there
// is none, the call has had all its attempts.
func (r *Run) nextInRound(d Decision) Decision {
	d.LastRound = true
	if d.Action != ActionSwitchModel || r.askedInRound(d.NewModel) {
		i := slices.IndexFunc(r.Call.Tried, func(t Tried) bool {
			return !r.askedInRound(t.Model) && r.Open.offers(t.Model) && transientCodes[t.Code]
		})
		if i < 0 {
			d.BlockedBy = blockedAttempts
			return d
		}
		d.Action, d.NewModel = ActionSwitchModel, r.Call.Tried[i].Model
	}
	d.Delay = 0
	if r.Call.Attempts >= 2 {
		d.Delay = MinDelay
	}
	d.BlockedBy = r.blocked(d)
	return d
}

// askedInRound reports whether model has failed in the call's last round.
func (r *Run) askedInRound(model string) bool {
	asked := r.Call.Tried[min(r.Call.RoundFrom, len(r.Call.Tried)):]
	return slices.ContainsFunc(asked, func(t Tried) bool { return t.Model == model })
}

// isTransient reports whether the failure may pass by itself.
func (r *Run) isTransient() bool {
	o := r.Open
	return o.Cause == CauseAttempt && o.CallID == "" && !o.Offline && o.Failure.Retryable && !o.Failure.Kind.Once() &&
		o.Failure.ResetsAt.IsZero() && transientCodes[o.Failure.Code]
}

// transientCodes are the codes of failures that may pass by themselves.
var transientCodes = map[failure.Code]bool{
	failure.CodeProviderTimeout: true, failure.CodeProviderUnreachable: true, failure.CodeProviderRateLimited: true, failure.CodeProviderUnavailable: true, failure.CodeStreamInterrupted: true,
}
