package tell

import (
	"cmp"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Recovery is the state of a run's recovery: what a client shows beside the text, and its buttons.
type Recovery struct {
	Run   string `json:"run"`
	Phase Phase  `json:"phase"`
	Text  string `json:"text,omitempty"` // one line for people; "" = nothing is shown

	Attempt     int       `json:"attempt"` // n of "attempt n/m"; with a suggestion the failed attempt, from 0
	MaxAttempts int       `json:"maxAttempts,omitempty"`
	RetryAt     time.Time `json:"retryAt,omitzero"` // when the wait ends
	Model       string    `json:"model,omitempty"`  // the one that is called, or will be

	// SuggestionID is the id to answer with; waits and slow calls have one, too.
	SuggestionID string            `json:"suggestionId,omitempty"`
	Actions      []recovery.Button `json:"actions,omitempty"`

	SuggestedAction recovery.Action `json:"suggestedAction,omitempty"`
	NewModel        string          `json:"newModel,omitempty"`
	ExpiresAt       time.Time       `json:"expiresAt,omitzero"`
	Title           string          `json:"title,omitempty"`
	Message         string          `json:"message,omitempty"`
	Tried           string          `json:"tried,omitempty"` // "Tried 3 times over 14 s."
	Why             string          `json:"why,omitempty"`   // who suggests the first action, and why
	Limit           string          `json:"limit,omitempty"` // why it was not done without asking
}

// Phase tells a client which state a recovery is in.
type Phase string

// The phases.
const (
	PhaseSlow       Phase = "slow"       // the model or a tool has been silent for long; passes
	PhaseRetrying   Phase = "retrying"   // a retry is due or in progress
	PhaseSwitching  Phase = "switching"  // another model is asked
	PhaseCompacting Phase = "compacting" // the conversation is being shortened
	PhaseWaiting    Phase = "waiting"    // for a reset, the network, the store
	PhaseRecovered  Phase = "recovered"  // it is over, and went well
	PhaseSuggestion Phase = "suggestion" // a person is asked
	PhaseExpired    Phase = "expired"    // nobody answered, or another message came
	PhaseFailed     Phase = "failed"     // nothing is left to offer
	PhaseStopped    Phase = "stopped"    // a person stopped the run
)

var phases = map[recovery.State]Phase{
	recovery.StateSlow: PhaseSlow, recovery.StateToolSlow: PhaseSlow,
	recovery.StateRetryWait: PhaseRetrying, recovery.StateRetryNow: PhaseRetrying, recovery.StateSwitching: PhaseSwitching,
	recovery.StateCompacting: PhaseCompacting,
	recovery.StateReset:      PhaseWaiting, recovery.StateOnline: PhaseWaiting, recovery.StateStore: PhaseWaiting,
	recovery.StateSuggestion: PhaseSuggestion, recovery.StateExpired: PhaseExpired, recovery.StateSuperseded: PhaseExpired,
	recovery.StateFailed: PhaseFailed, recovery.StateStopped: PhaseStopped, recovery.StateStopping: PhaseStopped,
}

// Look is the state of r's recovery at a time; its Phase is "" if there is nothing to say.
func Look(r *recovery.Run, now time.Time, heard recovery.Heard) Recovery {
	sit := r.Situation()
	stage := sit.At(now, heard)
	v := Recovery{Run: r.ID, Phase: phases[stage.State]}
	if v.Phase == "" {
		return v
	}
	v.Text, v.Attempt, v.MaxAttempts, v.Model = stage.Said(stage.Line, now), sit.Retry, sit.Of, sit.Model
	if v.Phase == PhaseRetrying || v.Phase == PhaseSwitching || v.Phase == PhaseWaiting {
		v.RetryAt = stage.Until
	}
	v.SuggestionID = stage.Asks
	for _, b := range stage.Actions {
		b.Label = stage.Said(b.Label, now)
		v.Actions = append(v.Actions, b)
	}
	if c := stage.Card; c != nil {
		v.Title, v.Message, v.Tried = c.Title, stage.Said(c.Message, now), c.Tried
		v.Why, v.Limit = stage.Said(c.Why, now), c.Limit
		v.Text = strings.TrimSpace(strings.TrimSuffix(v.Title, ".") + ". " + v.Message)
	}
	if s := r.OpenSuggestion(now); s != nil && v.Phase == PhaseSuggestion {
		v.SuggestedAction, v.NewModel, v.Attempt, v.MaxAttempts, v.ExpiresAt = s.SuggestedAction, s.NewModel, s.Attempt, 0, s.ExpiresAt
		v.SuggestionID, v.Model = s.ID, cmp.Or(s.Error.Model, v.Model)
	}
	return v
}
