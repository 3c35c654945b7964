package hooks

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// RunEnded is the run_ended occasion: how a run ended, and what it took. Votes on it are ignored.
// It holds no secrets, no prompt and no answer.
type RunEnded struct {
	Run, Session        string
	SessionKey, AgentID string
	Labels              recovery.Labels
	Status              recovery.Status
	StopReason          string
	ChosenModel, Model  string // the model that was asked for, and the one that was asked last
	Recovered           bool   // it was completed although attempts had failed
	Attempts            int    // of model calls; all that began
	FailedAttempts      int    // how many of them failed
	Trouble             recovery.Trouble
	Spent               recovery.Budget
	Elapsed             failure.Millis   // from its begin to its end
	Time                time.Time        // when it ended
	Failure             *failure.Failure // the failure that ended it; nil = none
	DryRun              bool
}

// Hook is recovery.HookRunEnded.
func (RunEnded) Hook() string { return recovery.HookRunEnded }

// For is e: it contains no transcript.
func (e RunEnded) For(bool) Occasion { return e }

// NewRunEnded describes the end of r, which has ended.
func NewRunEnded(r *recovery.Run) RunEnded {
	e := RunEnded{
		Run: r.ID, Session: r.Session, SessionKey: r.SessionKey, AgentID: r.AgentID, Labels: r.Labels,
		Status: r.End.Status, StopReason: r.End.StopReason, ChosenModel: r.Chosen, Model: r.Model, Recovered: r.Recovered(),
		Attempts: int(r.Attempts), FailedAttempts: r.FailedAttempts, Trouble: r.Trouble, Spent: r.Spent,
		Elapsed: failure.InMillis(max(0, r.Last.Sub(r.StartedAt))), Time: r.Last,
	}
	if f := r.Failure(); f != nil {
		broke := *f
		e.Failure = &broke
	}
	return e
}
