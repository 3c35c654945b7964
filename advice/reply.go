package advice

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Reply is what to do about a failed call.
type Reply struct {
	Run                string               `json:"run" doc:"The run that the call is in Mulligan's timeline." example:"a5c0…"`
	Failure            failure.Failure      `json:"failure" doc:"What went wrong."`
	Decision           recovery.Decision    `json:"decision" doc:"What to do. Act on it where action is retry or switch_model, and neither blockedBy nor recoverySuggestion is there; else fail as without Mulligan. No action: nobody has an opinion."`
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion,omitempty" doc:"What a person is to be asked; its actions are buttons, and those with the effect client are yours to do."`
	Votes              []recovery.Vote      `json:"votes" doc:"What each plugin said."`
}

// Acts reports whether the caller should act on the decision by itself.
func (a *Reply) Acts() bool {
	goesOn := a.Decision.Action == recovery.ActionRetry || a.Decision.Action == recovery.ActionSwitchModel
	return goesOn && a.Decision.BlockedBy == "" && a.RecoverySuggestion == nil
}

// Closed is the state of a call's run after its outcome was reported.
type Closed struct {
	Run    string          `json:"run" doc:"The run that the call is in Mulligan's timeline." example:"a5c0…"`
	Status recovery.Status `json:"status"`
}

// replyOf is the answer that a run has come to.
func replyOf(run *recovery.Run) Reply {
	o := run.Open
	a := Reply{Run: run.ID, Failure: o.Failure, Decision: *o.Decision, Votes: append([]recovery.Vote{}, o.Votes...)}
	if s := run.Suggestion; s != nil && run.SuggestionOpen() {
		a.RecoverySuggestion = s
	}
	return a
}
