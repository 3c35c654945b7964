package hooks

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// BeforeCall is the before_call occasion: a model call that is about to begin. It holds no secrets
// and, apart from Transcript, no prompt and no tool's arguments or results.
type BeforeCall struct {
	Run, Session        string
	SessionKey, AgentID string
	Labels              recovery.Labels
	Model               recovery.Alternative   // the model that is about to be asked
	Alternatives        []recovery.Alternative // models that may be asked instead
	Round               int                    // which model call of the run it is, from 1
	Attempt             int                    // within this model call, from 0
	Tried               []recovery.Tried       // the failed attempts of this model call
	Summary             bool                   // the call only sums up old turns of a conversation that is too long
	InputTokens         int64                  // approximately
	Tools               []string               // tools that the model may use
	Images              bool                   // there are images in the conversation
	Schema              bool                   // the answer has to follow a JSON schema
	FailedKinds         []failure.Kind         // of the run's failures so far, the newest 64
	RecentCalls         []recovery.RecentCall  // how the last calls of the model's entry ended, in all runs; see About
	Holds               int                    // how often the call was held already
	AutoRecover         bool
	Spent, Remaining    recovery.Budget // 0 = unlimited, -1 = used up
	Elapsed             failure.Millis  // since the run began, without deliberate long waits
	RemainingTime       failure.Millis  // 0 = unlimited, -1 = used up
	Time                time.Time
	DryRun              bool

	// Transcript is as in RunError.
	Transcript []llm.Message
}

// Hook is recovery.HookBeforeCall.
func (BeforeCall) Hook() string { return recovery.HookBeforeCall }

// For leaves out the transcript, or what a plugin may not see of it.
func (e BeforeCall) For(transcript bool) Occasion {
	if transcript {
		e.Transcript = recent(e.Transcript)
	} else {
		e.Transcript = nil
	}
	return e
}

// NewBeforeCall describes a call of r that is about to begin now. Of the models in instead, only
// those that no plugin forbids are included.
func NewBeforeCall(r *recovery.Run, call recovery.Began, instead []recovery.Alternative, now time.Time) BeforeCall {
	e := BeforeCall{
		Run: r.ID, Session: r.Session, SessionKey: r.SessionKey, AgentID: r.AgentID, Labels: r.Labels,
		Model: known(r, recovery.Alternative{Model: call.Model}), Round: call.Round, Attempt: call.Try,
		Tried: slices.Clone(r.Call.Tried), Summary: call.Attempt == 0, InputTokens: r.InputTokens(),
		AutoRecover: r.Policy.AutoRecover, Spent: r.Spent, Remaining: remaining(r.Policy.Budget, r.Spent),
		Elapsed: elapsed(r, now), Time: now, FailedKinds: slices.Clone(r.Trouble.Failed), Transcript: slices.Clip(r.Messages),
	}
	e.RemainingTime = remainingTime(r, e.Elapsed, now)
	for _, a := range instead {
		if a.Model != call.Model && r.Forbids(a.Model) == "" {
			e.Alternatives = append(e.Alternatives, known(r, a))
		}
	}
	q := requestOf(r)
	e.Tools, e.Images, e.Schema = q.tools, q.images, q.schema
	if r.Gate != nil {
		e.Holds = r.Gate.Holds
	}
	return e
}

// known is a model with everything that the run's policy says about it.
func known(r *recovery.Run, a recovery.Alternative) recovery.Alternative {
	if price, ok := r.Policy.Prices[a.Model]; ok {
		a.Price = &price
	}
	a.Local = slices.Contains(r.Policy.Local, a.Model)
	return a
}
