package rules

import (
	"errors"

	"github.com/mulligan-run/mulligan/recovery"
)

// outcome is what the rules say about a failure.
type outcome struct {
	Rule *rule         // that decided; nil = no opinion
	Vote recovery.Vote // of which Action, Delay, NewModel, Reason, Actions and Adjust are set
	// Notes tell why rules did not decide, beside those that do not match.
	Notes []note
}

// note is what kept a rule from deciding, or from saying its reason.
type note struct {
	Rule *rule
	Err  error
}

// errNoModel says that a rule matched and names no model that may be switched to.
var errNoModel = errors.New("it matches, but no model that it may switch to is left")

// decide asks one rule after the other; the first that matches, and whose action is
// possible, wins. jitter is drawn from [0, 1) by the caller.
func (rs *Rules) decide(f *Facts, jitter float64) outcome {
	var o outcome
	in := newScope(f)
	for _, r := range rs.Rules {
		holds, err := r.when.holds(in)
		if err != nil {
			o.note(r, err)
			continue
		}
		if !holds {
			continue
		}
		vote, possible := r.action.decide(f, jitter)
		if !possible {
			o.note(r, errNoModel)
			continue
		}
		if vote.Reason, err = r.reason.render(in); err != nil {
			o.note(r, err)
		}
		vote.Actions, vote.Adjust = r.extra, r.adjust
		o.Rule, o.Vote = r, vote
		return o
	}
	return o
}

func (o *outcome) note(r *rule, err error) { o.Notes = append(o.Notes, note{r, err}) }
