package recovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// The plugins that Policy.ToolError names are asked about a tool that failed before the model is
// told. They may have the call made again if its safety allows that, tell the model something else,
// or ask a person. They are asked only about calls of the runner's own tools, and only about
// failures: a call of unknown outcome is the business of HookRunError. If no plugin is named,
// nothing is asked and nothing is written.

// HookToolError asks what to do about a tool that failed.
const HookToolError = "tool_error"

// What a plugin says about a tool that failed, besides ActionRetry; ActionNone is no opinion.
const (
	ActionTell Action = "tell" // the model is told Words instead of what the tool said
	ActionAsk  Action = "ask"  // a person is asked
)

// MaxToolWords is the most that a plugin may tell a model about a tool, in bytes.
const MaxToolWords = 8 << 10

// ToolTrouble is a tool call that failed, until it is decided what to tell the model.
type ToolTrouble struct {
	Seq      uint64 // of the event that says so
	At       time.Time
	Returned ToolReturned
	Votes    []Vote
	Decision *Decision
	Waited   bool // the decision's delay is over
	Asked    bool // a person was asked
}

// occasion names what is asked about a tool that failed; every failure has its own.
func (t *ToolRun) occasion() Occasion {
	return Occasion(fmt.Sprintf("%s/%d", HookToolError, t.Trouble.Seq))
}

// FailedTool is the tool call that the occasion is about; nil if nothing is asked about it now.
func (r *Run) FailedTool(about Occasion) *ToolRun {
	for _, t := range r.Pending {
		if t.State == ToolCallFailed && t.Trouble.Decision == nil && t.occasion() == about {
			return t
		}
	}
	return nil
}

// TriesLeft is how often the call may still be made; 0 if it must not run twice.
func (t *ToolRun) TriesLeft() int {
	if !t.Safety.Repeatable() {
		return 0
	}
	return max(0, MaxToolTries-t.Tries)
}

// asksAbout reports whether plugins are asked about a result of t before the model is told.
func (r *Run) asksAbout(t *ToolRun, b ToolReturned) bool {
	return len(r.Policy.ToolError) > 0 && b.Outcome == OutcomeError && t.By == "" && t.State == ToolCallInAir && !b.NotRun
}

// toolFailed keeps a failure for the plugins that are asked about it.
func (r *Run) toolFailed(e Event, t *ToolRun, b ToolReturned) {
	t.State = ToolCallFailed
	t.Trouble = &ToolTrouble{Seq: e.Seq, At: e.Time, Returned: b}
}

// askAboutTool asks the plugins that have not voted on a tool that failed, and decides once all of
// them have.
func (r *Run) askAboutTool(t *ToolRun) []Effect {
	about := t.occasion()
	if missing := t.Trouble.unheard(r.Policy.ToolError); len(missing) > 0 {
		return []Effect{{Key: "ask/" + string(about), Ask: &AskPlugins{Occasion: about, Plugins: missing}}}
	}
	return record(r, Decided{Occasion: about, Decision: r.judgeTool(t)})
}

func (o *ToolTrouble) unheard(asked []string) []string {
	return slices.DeleteFunc(slices.Clone(asked), func(plugin string) bool {
		return slices.ContainsFunc(o.Votes, func(v Vote) bool { return v.Plugin == plugin })
	})
}

// judgeTool takes the first valid opinion in the configured order. If the run does not recover
// automatically, a person is asked instead of a retry.
func (r *Run) judgeTool(t *ToolRun) Decision {
	var d Decision
	for rank, plugin := range r.Policy.ToolError {
		i := slices.IndexFunc(t.Trouble.Votes, func(v Vote) bool { return v.Plugin == plugin })
		v := t.Trouble.Votes[i]
		if v.Error != "" || v.Action == ActionNone {
			continue
		}
		if problem := r.invalidForTool(t, v); problem != "" {
			d.Ignored = append(d.Ignored, plugin+": "+problem)
			continue
		}
		if d.By != nil {
			continue
		}
		d.Action, d.Delay, d.Words, d.Reason = v.Action, v.Delay, v.Words, v.Reason
		d.By = &Voter{Plugin: v.Plugin, Version: v.Version, Hash: v.Hash, Reason: v.Reason, Millis: v.Latency, Rank: rank}
	}
	if d.Action == ActionRetry && !r.Policy.AutoRecover {
		d.Action, d.Delay = ActionAsk, 0
	}
	return d
}

// invalidForTool says why an answer about t does not count; "" if it does.
func (r *Run) invalidForTool(t *ToolRun, v Vote) string {
	again := t.Trouble.At.Add(v.Delay.Duration())
	limits := r.Policy.Timeouts
	switch {
	case !slices.Contains([]Action{ActionRetry, ActionTell, ActionAsk}, v.Action):
		return fmt.Sprintf("unknown action %q", words.Clip(string(v.Action), 40))
	case v.Action == ActionTell && (words.Tidy(v.Words) == "" || len(v.Words) > MaxToolWords):
		return fmt.Sprintf("tell needs words, at most %d bytes", MaxToolWords)
	case v.Action != ActionRetry:
		return ""
	case !t.Safety.Repeatable():
		return t.Call.Name + " is not to be run twice"
	case t.TriesLeft() == 0:
		return fmt.Sprintf("%s has run %d times, and no call runs more often", t.Call.Name, t.Tries)
	case v.Delay < 0 || v.Delay > MaxInProcessWait:
		return "a tool is run again within a minute"
	case limits.MaxTurn > 0 && again.After(r.turnEnd()):
		return LimitInWords(string(failure.TimerMaxTurn))
	case limits.Run > 0 && again.After(r.deadline()):
		return LimitInWords(string(failure.TimerRun))
	}
	return ""
}

// votedAboutTool keeps a vote on a tool that failed.
func (r *Run) votedAboutTool(b Voted) {
	if t := r.FailedTool(b.Occasion); t != nil && !b.Vote.Shadow {
		trouble := *t.Trouble
		trouble.Votes = append(slices.Clip(trouble.Votes), b.Vote)
		t.Trouble = &trouble
	}
}

// decidedAboutTool applies a decision about a tool that failed.
func (r *Run) decidedAboutTool(e Event, b Decided) {
	t := r.FailedTool(b.Occasion)
	if t == nil {
		return
	}
	trouble := *t.Trouble
	trouble.Decision = &b.Decision
	t.Trouble = &trouble
	if b.Decision.Action == ActionRetry {
		t.State = ToolCallWanted
		trouble.Waited = b.Decision.Delay == 0
		r.restStep(e.Time)
		return
	}
	r.settleTool(e, t)
}

// settleTool tells the model what the failed tool said, or a plugin's words instead.
func (r *Run) settleTool(e Event, t *ToolRun) {
	result := t.Trouble.Returned.Result
	if d := t.Trouble.Decision; d != nil && d.Action == ActionTell {
		result.Text = words.Clip(d.Words, MaxToolWords)
	}
	t.State = ToolCallReturned
	r.finishTool(e, t, result)
}

// toolDelay is the timer of a call that is to be made again after a delay; nil if it may begin.
func (t *ToolRun) toolDelay() *SetTimer {
	o := t.Trouble
	if o == nil || o.Decision == nil || o.Decision.Action != ActionRetry || o.Waited || t.State != ToolCallWanted {
		return nil
	}
	return &SetTimer{At: o.At.Add(o.Decision.Delay.Duration()), Write: Due{Timer: failure.TimerWait, Failure: o.Seq}}
}

// toolWaited ends the delay of a call.
func (r *Run) toolWaited(e Event, seq uint64) {
	for _, t := range r.Pending {
		if t.Trouble != nil && t.Trouble.Seq == seq {
			trouble := *t.Trouble
			trouble.Waited = true
			t.Trouble = &trouble
			r.restStep(e.Time)
		}
	}
}

// toolRests reports whether plugins are asked about a tool, or one waits to run again: neither
// counts as idleness.
func (r *Run) toolRests() bool {
	return slices.ContainsFunc(r.Pending, func(t *ToolRun) bool { return t.State == ToolCallFailed || t.toolDelay() != nil })
}

// restStep starts the step's clock again after such a rest.
func (r *Run) restStep(now time.Time) { r.LastStepAt = now }

// askPerson is the failure of a tool about which a plugin wants a person to be asked; nil if there
// is none.
func (r *Run) askPerson() *Failed {
	for _, t := range r.Pending {
		o := t.Trouble
		if t.State != ToolCallReturned || o == nil || o.Asked || o.Decision == nil || o.Decision.Action != ActionAsk {
			continue
		}
		f := r.failure(failure.KindToolFailure, failure.OriginTool, failure.PhaseTool)
		f.Tool, f.Elapsed = t.Call.Name, t.Took
		if t.Limit > 0 {
			f.Timer, f.Limit = failure.TimerTool, t.Limit
		}
		f.Describe(failure.Words{Reason: words.Clip(words.Tidy(o.Returned.Result.Text), maxForbidding)})
		return &Failed{CallID: t.Call.ID, Failure: f, Cause: CauseToolAsked}
	}
	return nil
}

// askedPerson records that a person is asked, and what the plugin said.
func (r *Run) askedPerson(open *OpenFailure) {
	for _, t := range r.Pending {
		if t.Call.ID == open.CallID && t.Trouble != nil && t.Trouble.Decision != nil {
			trouble := *t.Trouble
			trouble.Asked = true
			t.Trouble = &trouble
			open.Decision = &Decision{By: trouble.Decision.By, Reason: trouble.Decision.Reason}
		}
	}
}

// toolDecidedLine says what happens next: "look failed. Running it again in 2 s…", or who told the
// model something else.
func (r *Run) toolDecidedLine(b Decided) string {
	t := r.FailedTool(b.Occasion)
	if t == nil || b.Decision.By == nil {
		return ""
	}
	because := ""
	if reason := words.Tidy(b.Decision.Reason); reason != "" {
		because = " (" + b.Decision.By.Plugin + ": " + words.Clip(reason, maxForbidding) + ")"
	}
	switch d := b.Decision; {
	case d.Action == ActionRetry && d.Delay > 0:
		return t.Call.Name + " failed. Running it again in " + words.Duration(d.Delay.Duration()) + "…" + because
	case d.Action == ActionRetry:
		return t.Call.Name + " failed. Running it again…" + because
	case d.Action == ActionTell:
		return t.Call.Name + " failed. " + b.Decision.By.Plugin + " tells the model what to do about it." + because
	}
	return ""
}

// settleFailed tells the model what a failed tool said, because the run fails over that tool's
// crash.
func (r *Run) settleFailed(e Event, callID string) {
	if t := r.tool(callID); t != nil && t.State == ToolCallFailed {
		r.settleTool(e, t)
	}
}
