package hooks

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// maxToolError is how much of a tool's output a hook gets, in bytes.
const maxToolError = 8 << 10

// ToolError is the tool_error occasion: a tool call that failed, before the model gets its result.
// It holds no secrets and, apart from Error and Transcript, no prompt and no tool's arguments or
// results.
type ToolError struct {
	Run, Session        string
	SessionKey, AgentID string
	Labels              recovery.Labels
	Tool, CallID        string
	Safety              recovery.Safety
	Tries               int // how often the call was made
	RemainingTries      int // how often it may still be made
	Failures            int // of this tool in this run, including this one
	TimedOut            bool
	Took                failure.Millis
	Model               string // the model that asked for the call
	Round               int    // which model call of the run asked for it, from 1
	AutoRecover         bool
	Spent, Remaining    recovery.Budget // 0 = unlimited, -1 = used up
	Elapsed             failure.Millis  // since the run began, without deliberate long waits
	RemainingTime       failure.Millis  // 0 = unlimited, -1 = used up
	Time                time.Time       // when it failed
	DryRun              bool

	// Error is what the tool said, and Transcript the conversation so far. Both are only for hooks
	// that were granted the transcript, as in RunError.
	Error      string
	Transcript []llm.Message
}

// Hook is recovery.HookToolError.
func (ToolError) Hook() string { return recovery.HookToolError }

// For leaves out the transcript and what the tool said, or what a plugin may not see of them.
func (e ToolError) For(transcript bool) Occasion {
	if transcript {
		e.Error, e.Transcript = words.Clip(e.Error, maxToolError), recent(e.Transcript)
	} else {
		e.Error, e.Transcript = "", nil
	}
	return e
}

// NewToolError describes the tool call of r about which advice is wanted; nil if there is none.
func NewToolError(r *recovery.Run, about recovery.Occasion) Occasion {
	t := r.FailedTool(about)
	if t == nil {
		return nil
	}
	at := t.Trouble.At
	e := ToolError{
		Run: r.ID, Session: r.Session, SessionKey: r.SessionKey, AgentID: r.AgentID, Labels: r.Labels,
		Tool: t.Call.Name, CallID: t.Call.ID, Safety: t.Safety, Tries: t.Tries, RemainingTries: t.TriesLeft(),
		Failures: r.ToolFailures[t.Call.Name], TimedOut: t.Limit > 0, Took: t.Took, Model: r.Model, Round: r.Rounds,
		AutoRecover: r.Policy.AutoRecover, Spent: r.Spent, Remaining: remaining(r.Policy.Budget, r.Spent),
		Elapsed: elapsed(r, at), Time: at, Error: t.Trouble.Returned.Result.Text, Transcript: slices.Clip(r.Messages),
	}
	e.RemainingTime = remainingTime(r, e.Elapsed, at)
	return e
}
