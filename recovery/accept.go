package recovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// Why an answer to a suggestion does not count.
var (
	// ErrAnswered: the suggestion was answered before (HTTP 409).
	ErrAnswered = errors.New("this suggestion has been answered")
	// ErrExpired: its time is over, it was stopped, or a newer one took its place (HTTP 410).
	ErrExpired = errors.New("this suggestion has expired")
	// ErrNoSuggestion: the run has not asked anybody anything.
	ErrNoSuggestion = errors.New("the run has no open suggestion")
	// ErrNoSuchAction: the suggestion does not have that action, or only a client can do it.
	ErrNoSuchAction = errors.New("the suggestion has no such action")
)

// Accept makes the event that answers a suggestion, a live wait or a call in the air at
// the given time, or says why it cannot be answered so; Answering gives what is to be
// written of it. An empty suggestion means the one that is open; model, if not empty, is
// what a switch switches to.
func (r *Run) Accept(suggestion, action, model string, at time.Time) (Accepted, error) {
	if suggestion == "" {
		suggestion = r.openID()
	}
	buttons, ok := r.answerable(suggestion, at)
	switch {
	case !ok && suggestion != "" && suggestion == r.openID():
		return Accepted{}, fmt.Errorf("run %s: %w", r.ID, ErrExpired)
	case !ok:
		return Accepted{}, r.unanswerable(suggestion)
	}
	button, ok := findButton(buttons, action)
	if !ok || button.Effect != EffectRunner {
		return Accepted{}, fmt.Errorf("run %s: %w: %q; there are: %s", r.ID, ErrNoSuchAction, action, choices(buttons))
	}
	if err := r.mayChoose(model); err != nil {
		return Accepted{}, err
	}
	return Accepted{Suggestion: suggestion, Action: button.ID, Model: model}, nil
}

// mayChoose says why a person may not have that model asked; "" is none.
func (r *Run) mayChoose(model string) error {
	switch {
	case model == "":
		return nil
	case !slices.Contains(r.Policy.Models, model):
		return fmt.Errorf("run %s: %w: model %q is not one that this run may use; there are: %s",
			r.ID, ErrNoSuchAction, model, strings.Join(r.Policy.Models, ", "))
	case r.forbids(model) != "":
		return fmt.Errorf("run %s: %w: model %q %s", r.ID, ErrNoSuchAction, model, r.forbids(model))
	}
	return nil
}

func (r *Run) openID() string {
	switch {
	case r.Wait != nil:
		return r.Wait.ID
	case r.offer == suggestionOpen:
		return r.Suggestion.ID
	}
	return ""
}

// unanswerable says why the suggestion called id, or the last one, takes no answer.
func (r *Run) unanswerable(id string) error {
	reason := ErrExpired
	switch {
	case r.Suggestion == nil && r.acceptedID == "":
		reason = ErrNoSuggestion
	case r.acceptedID != "" && (id == "" || id == r.acceptedID):
		reason = ErrAnswered
	}
	return fmt.Errorf("run %s: %w", r.ID, reason)
}

func choices(buttons []Button) string {
	var names []string
	for _, b := range buttons {
		if b.Effect == EffectRunner {
			names = append(names, b.ID+" ("+b.Label+")")
		}
	}
	return strings.Join(names, ", ")
}

func (r *Run) suggested(e Event, b Suggested) {
	s := b.Suggestion
	r.Suggestion = &s
	r.offer = suggestionNone
	if r.Open != nil && len(s.Actions) > 0 {
		r.offer = suggestionOpen
		r.park(e.Time)
	}
	r.Status = StatusFailed
	r.Wait = nil
}

// accepted lets the decision act; what differs between the actions is only how
// the decision is amended first.
func (r *Run) accepted(e Event, b Accepted) {
	buttons, ok := r.answerable(b.Suggestion, e.Time)
	if !ok {
		return
	}
	button, ok := findButton(buttons, b.Action)
	if !ok || button.Effect != EffectRunner || r.Open == nil { // the failure of a call that is cut short comes first
		return
	}
	if b.Model != "" {
		button.Model = b.Model
	}
	if button.Plugin != "" {
		r.pressed(e, b, button)
		return
	}
	wasWait := r.Wait != nil
	r.offer, r.Wait = suggestionNone, nil
	r.Status = StatusRunning
	r.unpark(e.Time)
	r.acceptedID = b.Suggestion
	open := r.Open
	open.Accepted, open.Waited = true, true
	if !wasWait {
		r.Call.Granted++
		r.Granted++
	}
	amended := Decision{Action: ActionRetry}
	if d := open.Decision; d != nil {
		amended.Adjust, amended.By, amended.Reason = d.Adjust, d.By, d.Reason
	}
	switch button.Kind {
	case ButtonStop:
		r.acceptedID = ""
		r.cancelled = true
		amended = Decision{Action: ActionFail}
	case ButtonCancelWait:
		r.cancelled = true
	case ButtonSwitchModel, ButtonLarger:
		amended.Action, amended.NewModel, amended.Adjust.Compact = ActionSwitchModel, button.Model, false
	case ButtonCompact:
		amended.Adjust.Compact = true
	case ButtonRerunTool:
		r.rerun(open.CallID)
	case ButtonResumeAt:
		open.Waited = !r.Suggestion.ResetsAt.After(e.Time)
		amended.Delay = failure.InMillis(nonNegative(r.Suggestion.ResetsAt.Sub(open.At)))
	case ButtonWaitLonger:
		r.Call.Doubled = open.Failure.Timer
		r.stepDoubled = open.Cause == CauseClock && open.Failure.Timer == failure.TimerStep
	case ButtonExtend:
		r.extend(open, e.Time)
	}
	open.Decision = &amended
}

// pressed puts a plugin's own button before the plugin: what it says then is decided anew.
func (r *Run) pressed(e Event, b Accepted, button Button) {
	open := r.Open
	r.offer = suggestionNone
	r.Status, r.acceptedID = StatusRunning, b.Suggestion
	r.unpark(e.Time)
	open.Pressed, open.Votes, open.Waited = button.Kind, nil, false
	open.Presses++
}

// answerable gives the actions of the suggestion, live wait or call called id, if it is
// the one that may be answered at that time.
func (r *Run) answerable(id string, now time.Time) ([]Button, bool) {
	if r.End != nil || r.cancelled {
		return nil, false
	}
	if call, actions := r.CutShort(); call != "" && call == id {
		return actions, true
	}
	if a, ok := r.cutShort(id); ok {
		return r.callActions(a), true
	}
	if r.Open == nil || r.Open.Decision == nil {
		return nil, false
	}
	if r.Wait != nil && r.Wait.ID == id {
		return r.Wait.Actions, true
	}
	if s := r.OpenSuggestion(now); s != nil && s.ID == id {
		return s.Actions, true
	}
	return nil, false
}

// extend adds the expired ceiling once more. A turn's time stood still while the
// suggestion was open, the run's did not, so that is counted from now.
func (r *Run) extend(o *OpenFailure, now time.Time) {
	switch o.Cause {
	case CauseClock:
		if turn := &r.Policy.Timeouts.MaxTurn; *turn > 0 {
			*turn += o.Failure.Limit
		}
		if run := &r.Policy.Timeouts.Run; *run > 0 {
			*run = max(*run, failure.InMillis(nonNegative(now.Sub(r.StartedAt)))+o.Failure.Limit)
		}
	case CauseRounds:
		r.Extended++
	case CauseDayBudget:
		r.BeyondDay = true
	case CauseBudget:
		r.Policy.Budget = r.Policy.Budget.Plus(r.Policy.Budget)
	case CauseAttempt, CauseCutShort, CauseUnknownOutcome, CauseCooling, CauseGivenUp, CauseForbidden: // no limit of the run's
	}
}
