package recovery

import "github.com/mulligan-run/mulligan/failure"

// A default model that cools down is not asked, and is not replaced in silence either: before
// its first call the run fails as that model did last, and the answer is a switch to the first
// alternative. With autoRecover that is done, and said; without it a person is asked.

// cooled is the failure of a run whose model cools down.
func (r *Run) cooled() Failed {
	c := r.cooling
	f := r.failure(c.Kind, failure.OriginRunner, failure.PhasePrompt)
	f.Variant, f.ResetsAt = failure.VariantCooling, c.Until
	f.RetryAfter = failure.InMillis(nonNegative(c.Until.Sub(r.Last)))
	f.Describe(failure.Words{})
	return Failed{Failure: f, Cause: CauseCooling}
}

// inItsPlace is what is done about a model that cools down, or is forbidden: no plugin is asked,
// since nothing was tried. Where the others cool down by now as well, one that cools down is asked all the same.
func (r *Run) inItsPlace() Decision {
	switch list := r.Open.Alternatives; {
	case len(list) > 0:
		return Decision{Action: ActionSwitchModel, NewModel: list[0].Model}
	case r.Open.Cause == CauseForbidden:
		return Decision{Action: ActionFail}
	}
	return Decision{Action: ActionRetry}
}
