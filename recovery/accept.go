package recovery

import (
	"errors"
	"fmt"
	"strings"
	"time"
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
	if model != "" && !r.allows(model) {
		return Accepted{}, fmt.Errorf("run %s: %w: model %q is not one that this run may use; there are: %s",
			r.ID, ErrNoSuchAction, model, strings.Join(r.Policy.Models, ", "))
	}
	return Accepted{Suggestion: suggestion, Action: button.ID, Model: model}, nil
}

func (r *Run) allows(model string) bool {
	for _, m := range r.Policy.Models {
		if m == model {
			return true
		}
	}
	return false
}

func (r *Run) openID() string {
	switch {
	case r.Wait != nil:
		return r.Wait.ID
	case r.suggestionOpen:
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
