package hooks

import (
	"cmp"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// The values of RunError.ReplaySafety: whether the failed attempt may be repeated without something
// happening twice.
const (
	ReplaySafe    = "safe"
	ReplayUnsafe  = "unsafe"  // a tool that must not run twice is in the air
	ReplayUnknown = "unknown" // such a tool was in the air when its owner was lost, so it may have taken effect
)

// RunError is the run_error occasion: a failure, and everything a decision about it may depend
// on. It holds no secrets and, apart from Transcript, no prompt and no tool's arguments or
// results.
type RunError struct {
	Run, Session string
	Failure      failure.Failure
	Model        string // the model that failed, provider/model
	Attempt      int    // within one model call, from 0
	Retries      int    // of this model call so far
	MaxRetries   int    // allowed by the policy for one model call
	AutoRecover  bool   // whether the decision is carried out, or offered to a person

	Elapsed           failure.Millis  // since the run began, without deliberate long waits
	Remaining         recovery.Budget // 0 = unlimited, -1 = used up
	RemainingAttempts int             // of this model call, within the limits that no policy can lift
	RemainingTime     failure.Millis  // until max_turn or the run's timeout; 0 = unlimited, -1 = used up
	Tried             []recovery.Tried
	Alternatives      []recovery.Alternative // what switch_model may name

	ReplaySafety string   // ReplaySafe, ReplayUnsafe or ReplayUnknown
	UnsafeTools  []string // the tools that make it unsafe or unknown
	PartialShown bool     // people have seen text of the failed attempt
	IdleBreaker  bool     // too many idle timeouts in a row: nothing is retried automatically
	IdleExpiries int      // in a row without a finished step
	SessionKey   string   // the caller's name for its conversation
	AgentID      string   // the caller's name for its agent
	Aborted      bool     // Mulligan ended the attempt: a timer, the end of its process, or a person
	TimedOut     bool     // one of our timers expired, or one of the provider's
	PromptError  string   // why the prompt could not become a request; "" = it could
	Pressed      string   // the kind of the hook's own button that a person pressed; "" = it is asked about the failure itself

	Labels      recovery.Labels
	Spent       recovery.Budget // by the run so far
	InputTokens int64           // of the request, approximately
	Tools       []string        // tools that the model may use
	Images      bool            // there are images in the conversation
	Schema      bool            // the answer has to follow a JSON schema
	About       recovery.Alternative
	Cooling     []recovery.Alternative // models that could be asked but are cooling down, and so are not in Alternatives
	FailedKinds []failure.Kind         // of the run's failures so far, this one included; the newest 64
	RecentCalls []recovery.RecentCall  // how the last calls of the model's entry ended, in all runs; see About

	Time   time.Time // when the attempt failed, even if the failure is replayed
	DryRun bool      // the answer has no effect: a failure is replayed, or the plugin is tested

	// Transcript is the conversation so far. A host passes it, as For makes it, only to plugins
	// that were granted it.
	Transcript []llm.Message
}

// Hook is recovery.HookRunError.
func (RunError) Hook() string { return recovery.HookRunError }

// For leaves out the transcript, or the part of it that no plugin may see.
func (e RunError) For(transcript bool) Occasion {
	if transcript {
		e.Transcript = recent(e.Transcript)
	} else {
		e.Transcript = nil
	}
	return e
}

// NewRunError describes the open failure of r. r.Open must be set.
func NewRunError(r *recovery.Run) RunError {
	open := r.Open
	e := RunError{
		Run: r.ID, Session: r.Session, Failure: open.Failure, Model: r.Model, Attempt: open.Attempt,
		Retries: r.Call.Retries, MaxRetries: r.Policy.MaxRetries, AutoRecover: r.Policy.AutoRecover,
		Elapsed: elapsed(r, open.At), Remaining: remaining(r.Policy.Budget, r.Spent),
		RemainingAttempts: r.AttemptsLeft(),
		Tried:             append([]recovery.Tried(nil), r.Call.Tried...),
		Alternatives:      alternatives(r),
		PartialShown:      r.Attempt != nil && (r.Attempt.Text != "" || r.Attempt.Shown != recovery.ShownNothing),
		IdleBreaker:       r.IdleBreaker(),
		Time:              open.At,
		Pressed:           open.Pressed,
		SessionKey:        r.SessionKey, AgentID: r.AgentID, Aborted: aborted(open), TimedOut: timedOut(open.Failure),
		Labels: r.Labels, Spent: r.Spent, InputTokens: r.InputTokens(), FailedKinds: slices.Clone(r.Trouble.Failed),
		Transcript: slices.Clip(r.Messages),
	}
	q := requestOf(r)
	e.Tools, e.Images, e.Schema = q.tools, q.images, q.schema
	for _, c := range open.Cooling {
		e.Cooling = append(e.Cooling, known(r, recovery.Alternative{Model: c.Model, CoolsUntil: c.Until, CoolingKind: c.Kind}))
	}
	if open.Failure.Model != "" {
		e.Model = open.Failure.Model
	}
	if open.Failure.Kind == failure.KindPromptFailure {
		e.PromptError = cmp.Or(open.Failure.Detail, open.Failure.Message, open.Failure.Title)
	}
	e.About = known(r, recovery.Alternative{Model: e.Model})
	e.IdleExpiries = r.IdleExpiries[e.Model]
	e.RemainingTime = remainingTime(r, e.Elapsed, open.At)
	e.ReplaySafety, e.UnsafeTools = replaySafety(r.Pending)
	if r.Policy.Calls == recovery.CallsOfCaller {
		e.ReplaySafety, e.UnsafeTools = replayByCaller(open.Told)
		e.Aborted, e.TimedOut = e.Aborted || open.Told.Aborted, e.TimedOut || open.Told.TimedOut
	}
	return e
}

// alternatives are those of the open failure, with everything that is known about them.
func alternatives(r *recovery.Run) []recovery.Alternative {
	var list []recovery.Alternative
	for _, a := range r.Open.Alternatives {
		list = append(list, known(r, a))
	}
	return list
}

// aborted reports whether Mulligan ended the attempt, not the provider.
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

func elapsed(r *recovery.Run, now time.Time) failure.Millis {
	return failure.InMillis(max(0, now.Sub(r.StartedAt)-max(0, r.Parked)))
}

func remaining(allowed, spent recovery.Budget) recovery.Budget {
	return recovery.Budget{
		Tokens:       left(allowed.Tokens, spent.Tokens),
		Microdollars: left(allowed.Microdollars, spent.Microdollars),
	}
}

// remainingTime is the time left for the turn, whose clock stands still while the run is parked, or
// for the run, whose clock does not.
func remainingTime(r *recovery.Run, elapsed failure.Millis, now time.Time) failure.Millis {
	turn := left(r.Policy.Timeouts.MaxTurn, elapsed)
	run := left(r.Policy.Timeouts.Run, failure.InMillis(max(0, now.Sub(r.StartedAt))))
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

// replaySafety looks at tools that have begun and not returned; a tool with a result in the log
// is never run again.
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

// replayByCaller is the same for tools that a caller runs itself.
func replayByCaller(told recovery.Told) (safety string, tools []string) {
	switch {
	case len(told.UnsafeTools) > 0:
		return ReplayUnsafe, told.UnsafeTools
	case told.ToolsRan:
		return ReplayUnknown, nil
	}
	return ReplaySafe, nil
}

// since is how long an answer took, at least a millisecond, since 0 means "none".
func since(began time.Time) failure.Millis { return failure.InMillis(max(1, time.Since(began))) }
