package rules

import (
	"errors"

	"github.com/mulligan-run/mulligan/recovery"
)

// outcome is what the rules say about a failure.
type outcome struct {
	Rule *rule         // that decided; nil = no opinion
	Vote recovery.Vote // of which Action, Delay, NewModel, Until, Reason, Actions, Adjust and Restrict are set
	// Beside are the rules that hold and decide nothing, before the one that does.
	Beside []*rule
	// Tells are whom rules tell that hold, the one that decided included.
	Tells []telling
	// Notes tell why rules did not decide, beside those that do not match.
	Notes []note
}

// note is what kept a rule from deciding, or from saying its reason.
type note struct {
	Rule *rule
	Err  error
}

// telling is a message to a webhook.
type telling struct {
	to      string
	message message
}

// errNoModel says that a rule matched and names no model that may be switched to.
var errNoModel = errors.New("it matches, but no model that it may switch to is left")

// decide asks one rule about failures after the other; the first that matches, and whose action is
// possible, wins. Rules that match before it and have no action forbid and tell, and later ones are asked.
// jitter is drawn from [0, 1) by the caller.
func (rs *Rules) decide(f *Facts, jitter float64) outcome { return rs.first(rs.Rules, f, jitter) }

// judge asks the rules about a call that is about to begin in the same way.
func (rs *Rules) judge(f *Facts) outcome { return rs.first(rs.Gates, f, 0) }

func (rs *Rules) first(list []*rule, f *Facts, jitter float64) outcome {
	var o outcome
	in := rs.scope(f)
	for _, r := range list {
		holds, err := r.when.holds(in)
		if err != nil {
			o.note(r, err)
			continue
		}
		if !holds {
			continue
		}
		vote, possible := recovery.Vote{}, true
		if r.action != nil {
			vote, possible = r.action.decide(f, jitter)
		}
		if !possible {
			o.note(r, errNoModel)
			continue
		}
		if vote.Reason, err = r.reason.render(in); err != nil {
			o.note(r, err)
		}
		o.beside(r, f, vote.Reason)
		if r.action == nil {
			o.Beside = append(o.Beside, r)
		} else {
			vote.Actions, vote.Adjust, vote.Restrict = r.extra, r.adjust, o.Vote.Restrict
			o.Rule, o.Vote = r, vote
			return o
		}
	}
	return o
}

// beside adds what a rule that matches does beside deciding.
func (o *outcome) beside(r *rule, f *Facts, reason string) {
	if r.restrict != nil {
		o.Vote.Restrict = both(o.Vote.Restrict, r.restrict)
		o.Vote.Reason = reason
	}
	if r.webhook != "" {
		o.Tells = append(o.Tells, telling{r.webhook, message{
			Rule: r.String(), Reason: reason, Model: f.Model, Kind: f.Failure.Kind, Code: f.Failure.Code, At: f.At, Counts: f.Counts,
		}})
	}
}

func (o *outcome) note(r *rule, err error) { o.Notes = append(o.Notes, note{r, err}) }
