package recovery

import "github.com/mulligan-run/mulligan/failure"

// A default model that cools down is not asked, and it is not replaced silently either. Before
// its first call the run fails as that model last did, and the decision is a switch to the first
// alternative: with autoRecover it is carried out and told, without it a person is asked.

// cooled is the failure of a run whose model cools down.
func (r *Run) cooled() Failed {
	c := r.cooling
	f := r.failure(c.Kind, failure.OriginRunner, failure.PhasePrompt)
	f.Variant, f.ResetsAt = failure.VariantCooling, c.Until
	f.RetryAfter = failure.InMillis(nonNegative(c.Until.Sub(r.Last)))
	f.Describe(failure.Words{})
	return Failed{Failure: f, Cause: CauseCooling}
}

// inItsPlace decides what to do about a model that cools down or is forbidden. No plugin is
// asked, since nothing was tried. Where every alternative cools down as well, a model that cools
// down is asked nevertheless.
func (r *Run) inItsPlace() Decision {
	switch list := r.Open.Alternatives; {
	case len(list) > 0:
		return Decision{Action: ActionSwitchModel, NewModel: list[0].Model}
	case r.Open.Cause == CauseForbidden:
		return Decision{Action: ActionFail}
	}
	return Decision{Action: ActionRetry}
}
