package recovery

import "github.com/mulligan-run/mulligan/failure"

// A default model that is cooling down is not asked, but it is not replaced silently either. Before
// its first call the run fails as that model last did, and the decision is a switch to the first
// alternative: with autoRecover it is carried out and people are told, without it a person is
// asked.

// cooled is the failure of a run whose model is cooling down.
func (r *Run) cooled() Failed {
	c := r.cooling
	f := r.failure(c.Kind, failure.OriginRunner, failure.PhasePrompt)
	f.Variant, f.ResetsAt = failure.VariantCooling, c.Until
	f.RetryAfter = failure.InMillis(nonNegative(c.Until.Sub(r.Last)))
	f.Describe(failure.Words{})
	return Failed{Failure: f, Cause: CauseCooling}
}

// inItsPlace decides what to do about a model that is cooling down or forbidden. No plugin is
// asked, since nothing was tried. If there is no alternative, a model that is cooling down is asked
// nevertheless.
func (r *Run) inItsPlace() Decision {
	switch list := r.Open.Alternatives; {
	case len(list) > 0:
		return Decision{Action: ActionSwitchModel, NewModel: list[0].Model}
	case r.Open.Cause == CauseForbidden:
		return Decision{Action: ActionFail}
	}
	return Decision{Action: ActionRetry}
}
