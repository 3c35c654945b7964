package hooks

import (
	"cmp"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Whether the attempt that failed may be repeated without doing something twice.
const (
	ReplaySafe    = "safe"
	ReplayUnsafe  = "unsafe"  // a tool that must not run twice is in the air
	ReplayUnknown = "unknown" // one was, when its owner was lost: it may or may not have happened
)

// RunError is the run_error occasion: a failure and what a decision about it may
// depend on. It holds no secret and, apart from Transcript, no prompt and no tool's
// arguments or results.
type RunError struct {
	Run, Session string
	Failure      failure.Failure
	Model        string // that failed, provider/model
	Attempt      int    // within one model call, from 0
	Retries      int    // of this model call so far
	MaxRetries   int    // that the policy allows for one model call
	AutoRecover  bool   // whether the decision is acted on, or offered to a person

	Elapsed           failure.Millis  // since the run began, deliberate long waits left out
	Remaining         recovery.Budget // 0 = unlimited, -1 = used up
	RemainingAttempts int             // of this model call, under the limits that no policy lifts
	RemainingTime     failure.Millis  // until max_turn or the run's timeout; 0 = unlimited, -1 = used up
	Tried             []recovery.Tried
	Alternatives      []recovery.Alternative // what switch_model may name

	ReplaySafety string   // safe, unsafe or unknown
	UnsafeTools  []string // the tools that make it so
	PartialShown bool     // text of the failed attempt was seen by people
	IdleBreaker  bool     // too many idle expiries in a row: nothing is retried by itself
	IdleExpiries int      // in a row without a finished step
	SessionKey   string   // what the caller calls its conversation
	AgentID      string   // what the caller calls its agent
	Aborted      bool     // the attempt was ended from our side: a timer, the end of its process, a person who did not wait
	TimedOut     bool     // time was over: that of a timer of ours, or the provider's own
	PromptError  string   // why the prompt could not become a request; "" = it could
	Pressed      string   // the kind of the hook's own button that a person has pressed; "" = it is asked about the failure itself

	Time   time.Time // when the attempt failed; a replayed failure has the time at which it happened
	DryRun bool      // nothing comes of the answer: a failure is replayed, or the plugin is tested

	// Transcript is what was said in the run so far. A host passes it on to plugins
	// that were granted it, as recent makes it, and to no other.
	Transcript []llm.Message
}

// Hook is recovery.HookRunError.
func (RunError) Hook() string { return recovery.HookRunError }

// For leaves out the transcript, or what of it is more than a plugin gets.
func (e RunError) For(transcript bool) Occasion {
	if transcript {
		e.Transcript = recent(e.Transcript)
	} else {
		e.Transcript = nil
	}
	return e
}

// NewRunError describes the open failure of r; it needs r.Open set.
func NewRunError(r *recovery.Run) RunError {
	open := r.Open
	e := RunError{
		Run: r.ID, Session: r.Session, Failure: open.Failure, Model: r.Model, Attempt: open.Attempt,
		Retries: r.Call.Retries, MaxRetries: r.Policy.MaxRetries, AutoRecover: r.Policy.AutoRecover,
		Elapsed: elapsed(r), Remaining: remaining(r.Policy.Budget, r.Spent),
		RemainingAttempts: r.AttemptsLeft(),
		Tried:             append([]recovery.Tried(nil), r.Call.Tried...),
		Alternatives:      alternatives(r),
		PartialShown:      r.Attempt != nil && (r.Attempt.Text != "" || r.Attempt.Shown != recovery.ShownNothing),
		IdleBreaker:       r.IdleBreaker(),
		Time:              open.At,
		Pressed:           open.Pressed,
		SessionKey:        r.SessionKey, AgentID: r.AgentID, Aborted: aborted(open), TimedOut: timedOut(open.Failure),
		Transcript: slices.Clip(r.Messages),
	}
	if open.Failure.Model != "" {
		e.Model = open.Failure.Model
	}
	if open.Failure.Kind == failure.KindPromptFailure {
		e.PromptError = cmp.Or(open.Failure.Detail, open.Failure.Message, open.Failure.Title)
	}
	e.IdleExpiries = r.IdleExpiries[e.Model]
	e.RemainingTime = remainingTime(r, e.Elapsed)
	e.ReplaySafety, e.UnsafeTools = replaySafety(r.Pending)
	if r.Policy.Calls == recovery.CallsOfCaller {
		e.ReplaySafety, e.UnsafeTools = replayByCaller(open.Told)
		e.Aborted, e.TimedOut = e.Aborted || open.Told.Aborted, e.TimedOut || open.Told.TimedOut
	}
	return e
}

// alternatives are those of the open failure with all that is known about them.
func alternatives(r *recovery.Run) []recovery.Alternative {
	var list []recovery.Alternative
	for _, a := range r.Open.Alternatives {
		if price, known := r.Policy.Prices[a.Model]; known {
			a.Price = &price
		}
		a.Local = slices.Contains(r.Policy.Local, a.Model)
		list = append(list, a)
	}
	return list
}

// aborted reports whether the attempt was ended from our side, and not by who was asked.
func aborted(o *recovery.OpenFailure) bool {
	return o.Failure.Timer != "" || o.Failure.Kind == failure.KindInterrupted || o.Cause == recovery.CauseCutShort
}

func timedOut(f failure.Failure) bool {
	switch f.Kind {
	case failure.KindTimeout, failure.KindStepTimeout, failure.KindMaxTurnTime, failure.KindRunTimeout:
		return true
	}
	return f.Timer != ""
}

func elapsed(r *recovery.Run) failure.Millis {
	return failure.InMillis(max(0, r.Open.At.Sub(r.StartedAt)-max(0, r.Parked)))
}

func remaining(allowed, spent recovery.Budget) recovery.Budget {
	return recovery.Budget{
		Tokens:       left(allowed.Tokens, spent.Tokens),
		Microdollars: left(allowed.Microdollars, spent.Microdollars),
	}
}

// remainingTime is what is left of the turn, which stands still while the run is parked,
// or of the run, which does not.
func remainingTime(r *recovery.Run, elapsed failure.Millis) failure.Millis {
	turn := left(r.Policy.Timeouts.MaxTurn, elapsed)
	run := left(r.Policy.Timeouts.Run, failure.InMillis(max(0, r.Open.At.Sub(r.StartedAt))))
	switch {
	case turn == 0:
		return run
	case run == 0:
		return turn
	}
	return min(turn, run)
}

func left[N ~int64](limit, used N) N {
	switch {
	case limit == 0:
		return 0
	case used >= limit:
		return -1
	}
	return limit - used
}

// replaySafety looks at the tools that were begun and have not returned; a result
// that is in the log is never asked for again.
func replaySafety(pending []*recovery.ToolRun) (safety string, tools []string) {
	safety = ReplaySafe
	for _, t := range pending {
		if t.Tries == 0 || t.State.Over() || t.Safety.Repeatable() {
			continue
		}
		tools = append(tools, t.Call.Name)
		if t.State == recovery.ToolCallOrphaned {
			safety = ReplayUnknown
		} else if safety == ReplaySafe {
			safety = ReplayUnsafe
		}
	}
	return safety, tools
}

// replayByCaller is what a caller says of tools that it runs itself.
func replayByCaller(told recovery.Told) (safety string, tools []string) {
	switch {
	case len(told.UnsafeTools) > 0:
		return ReplayUnsafe, told.UnsafeTools
	case told.ToolsRan:
		return ReplayUnknown, nil
	}
	return ReplaySafe, nil
}

// since is the latency of an answer, at least a millisecond so that it is not "none".
func since(began time.Time) failure.Millis { return failure.InMillis(max(1, time.Since(began))) }
