package recovery

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// CutShort gives the actions with which a person may end the model call in the air and go on in
// another way, as a live wait can be cut short, and the id under which they are answered. The
// actions are to try again, or to ask one of the other models that the run may use, in order.
// Clients offer them once a call is slow. If no call is in the air it gives nothing.
func (r *Run) CutShort() (id string, actions []Button) {
	a := r.Attempt
	if a == nil || a.State != AttemptInAir || a.Again || r.cancelled || r.Settled() {
		return "", nil
	}
	return r.callID(a), r.callActions(a)
}

// callID is the id under which a person answers the attempt a.
func (r *Run) callID(a *Attempt) string { return fmt.Sprintf("%s-a%d", r.ID, a.ID) }

func (r *Run) callActions(a *Attempt) []Button {
	var list buttonList
	list.add(Button{Kind: ButtonRetryNow, Primary: true})
	for _, model := range r.Policy.Models {
		if model != a.Model && len(list) <= maxSwitches && r.forbids(model) == "" {
			list.add(Button{Kind: ButtonSwitchModel, Model: model})
		}
	}
	number(list)
	return list
}

// Answering gives the events to write for an answer at a time. If the answer cuts a call short, the
// call's failure comes first.
func (r *Run) Answering(a Accepted, at time.Time) []Body {
	if id, _ := r.CutShort(); id == "" || id != a.Suggestion {
		return []Body{a}
	}
	f := r.failure(failure.KindTimeout, failure.OriginRunner, r.phase())
	f.Variant, f.Model = failure.VariantCutShort, r.Attempt.Model
	f.Elapsed = failure.InMillis(nonNegative(at.Sub(r.Attempt.BeganAt)))
	return []Body{r.worded(Failed{Attempt: r.Attempt.ID, Failure: f, Cause: CauseCutShort}), a}
}

// cutShort gives the call called id if it has just failed because a person cut it short. The
// person's answer is the next event.
func (r *Run) cutShort(id string) (*Attempt, bool) {
	a, o := r.Attempt, r.Open
	if a == nil || o == nil || o.Decision != nil || o.Cause != CauseCutShort || r.callID(a) != id {
		return nil, false
	}
	return a, true
}
