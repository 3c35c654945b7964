package rules

import (
	"errors"

	"github.com/mulligan-run/mulligan/recovery"
)

// outcome is what the rules say about a failure.
type outcome struct {
	Rule *rule         // the one that decided; nil = no opinion
	Vote recovery.Vote // Action, Delay, NewModel, Until, Reason, Actions, Adjust and Restrict are set
	// Beside are rules that matched without deciding, before the one that did.
	Beside []*rule
	// Tells are the messages of the matching rules, including the one that decided.
	Tells []telling
	// Notes say why rules did not decide, apart from not matching.
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

// errNoModel says that a rule matched, but no model that it may switch to is left.
var errNoModel = errors.New("it matches, but no model that it may switch to is left")

// decide tries the rules about failures in order; the first that matches, and whose action is
// possible, wins. Matching rules without an action forbid and tell, and the search goes on. The caller
// draws jitter from [0, 1).
func (rs *Rules) decide(f *Facts, jitter float64) outcome { return rs.first(rs.Rules, f, jitter) }

// judge does the same with the rules about a call that is about to begin.
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

// beside adds what a matching rule does besides deciding.
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
