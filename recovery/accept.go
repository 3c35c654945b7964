package recovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// The errors that say why an answer to a suggestion does not count.
var (
	// ErrAnswered says that the suggestion has already been answered (HTTP 409).
	ErrAnswered = errors.New("this suggestion has been answered")
	// ErrExpired says that the suggestion's time is over, that it was stopped, or that a newer one
	// replaced it (HTTP 410).
	ErrExpired = errors.New("this suggestion has expired")
	// ErrNoSuggestion says that the run has had no suggestion so far.
	ErrNoSuggestion = errors.New("the run has no open suggestion")
	// ErrNoSuchAction says that the suggestion does not have that action, or that only a client
	// can carry it out.
	ErrNoSuchAction = errors.New("the suggestion has no such action")
)

// Accept makes the event of a person's answer to a suggestion, a live wait or a call in the air at
// the given time, or says why no such answer is possible. Answering gives the events to write for
// it. An empty suggestion stands for the one that is open; model, if not empty, replaces the model
// of a switch.
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
	if err := r.mayChoose(model); err != nil {
		return Accepted{}, err
	}
	button, ok := findButton(buttons, action)
	if !ok || button.Effect != EffectRunner {
		return Accepted{}, fmt.Errorf("run %s: %w: %q; there are: %s", r.ID, ErrNoSuchAction, action, choices(buttons))
	}
	return Accepted{Suggestion: suggestion, Action: button.ID, Model: model}, nil
}

// mayChoose says why a person may not choose that model. An empty model means that none was named.
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

// unanswerable says why the suggestion called id, or the last one if id is empty, takes no answer.
func (r *Run) unanswerable(id string) error {
	reason := ErrExpired
	switch {
	case r.Suggestion == nil && r.acceptedID == "":
		reason = ErrNoSuggestion
	case r.acceptedID != "" && (id == "" || id == r.acceptedID):
		reason = ErrAnswered
	case r.End != nil && r.End.Status == StatusCancelled:
		reason = fmt.Errorf("%w: the run was stopped", ErrExpired)
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
	if s.AsksApproval() { // no failure came before it
		r.Open = approvalOf(b.CallID, e.Seq, e.Time, s.Error)
	}
	if r.Open != nil && len(s.Actions) > 0 {
		r.offer = suggestionOpen
		r.park(e.Time)
	}
	r.Status = StatusFailed
	r.Wait = nil
}

// accepted lets the decision act. The actions differ only in how they amend the decision first.
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
	if !wasWait && open.Cause != CauseApproval {
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
	case ButtonRetryNow:
		amended = r.hurried(amended)
	case ButtonSwitchModel, ButtonLarger:
		amended.Action, amended.NewModel, amended.Adjust.Compact = ActionSwitchModel, button.Model, false
	case ButtonCompact:
		amended.Adjust.Compact = true
	case ButtonRerunTool:
		r.rerun(open.CallID)
	case ButtonRunTool, ButtonRefuseTool:
		r.approve(open.CallID, button.Kind)
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

// hurried is what is done for a person who ends a wait: the same model is asked again or, if a
// plugin forbids that one, the model that the wait was for.
func (r *Run) hurried(again Decision) Decision {
	if d := r.Open.Decision; d != nil && d.Action == ActionSwitchModel && r.forbids(r.Model) != "" {
		again.Action, again.NewModel = d.Action, d.NewModel
	}
	return again
}

// pressed has the plugin asked whose button was pressed; its next vote is decided anew.
func (r *Run) pressed(e Event, b Accepted, button Button) {
	open := r.Open
	r.offer = suggestionNone
	r.Status, r.acceptedID = StatusRunning, b.Suggestion
	r.unpark(e.Time)
	open.Pressed, open.Votes, open.Waited = button.Kind, nil, false
	open.Presses++
}

// answerable gives the actions of the suggestion, live wait or call in the air called id, and
// whether a person may answer it at that time.
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

// extend adds the expired limit once more. The turn's clock stood still while the suggestion was
// open. The run's clock did not, so its limit is counted from now.
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
	case CauseAttempt, CauseCutShort, CauseHandedOver, CauseUnknownOutcome, CauseToolAsked, CauseCooling, CauseGivenUp, CauseForbidden, CauseApproval: // not limits of the run
	}
}
