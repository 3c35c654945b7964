package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// Decide makes the law out of the advice. It may be asked only while r has an
// open failure; its precedence is:
//
//  1. The first plugin in the configured order whose answer is valid, an
//     opinion, and about a model that no plugin forbids wins. Other answers are "no opinion" and
//     listed in Ignored.
//  2. The delay is raised to what the provider asked for (the same model only)
//     and to the least pause before any attempt after the second.
//  3. BlockedBy names the first limit that forbids acting on it: the run's own
//     time or budget, the attempts of a call and of the run, the retries of a
//     call, the idle breaker, the times a conversation may be shortened.
//  4. What cannot help, since the model keeps silent or the conversation gets no shorter,
//     becomes a switch to the first alternative, which is offered; where there is none it
//     is fail.
//
// Whether anybody acts on it is not Decide's business: see Next.
func Decide(r *Run) Decision {
	d := elect(r)
	if d.Action != ActionRetry && d.Action != ActionSwitchModel {
		return d
	}
	d.Delay = r.delay(d)
	d.BlockedBy = r.blocked(d)
	d = r.withPatience(d)
	switch d.BlockedBy {
	case blockedIdle, blockedCompact, blockedCompactions:
		return r.leave(d)
	}
	return d
}

// leave turns a retry that cannot help into something that may still be offered.
func (r *Run) leave(d Decision) Decision {
	d.Action, d.Delay, d.Adjust = ActionFail, 0, Adjust{}
	if list := r.Open.Alternatives; len(list) > 0 {
		d.Action, d.NewModel = ActionSwitchModel, list[0].Model
	}
	return d
}

func elect(r *Run) Decision {
	if r.Open.Cause == CauseCooling || r.Open.Cause == CauseForbidden {
		return r.inItsPlace()
	}
	var d Decision
	for rank, plugin := range r.Policy.Plugins {
		for _, v := range r.Open.Votes {
			if v.Plugin != plugin || v.Shadow || v.Error != "" || v.Action == ActionNone {
				continue
			}
			if problem := r.invalid(v); problem != "" {
				d.Ignored = append(d.Ignored, plugin+": "+problem)
				continue
			}
			if d.By == nil {
				if v.Action != ActionSwitchModel {
					v.NewModel = "" // only the model of a switch has been checked
				}
				d = Decision{
					Action: v.Action, Delay: v.Delay, NewModel: v.NewModel, Reason: v.Reason, Actions: v.Actions, Adjust: v.Adjust,
					By:      &Voter{Plugin: v.Plugin, Version: v.Version, Hash: v.Hash, Reason: v.Reason, Millis: v.Latency, Rank: rank},
					Ignored: d.Ignored,
				}
				d.leaveOutButtons(plugin)
			}
		}
	}
	return d
}

// leaveOutButtons drops those of the plugin's own buttons that would do nothing.
func (d *Decision) leaveOutButtons(plugin string) {
	var kept []Button
	for _, b := range d.Actions {
		if _, problem := b.made(plugin); problem != "" {
			d.Ignored = append(d.Ignored, plugin+": "+problem)
			continue
		}
		kept = append(kept, b)
	}
	d.Actions = kept
}

// invalid says why an answer does not count; "" if it does.
func (r *Run) invalid(v Vote) string {
	switch {
	case v.Action != ActionRetry && v.Action != ActionSwitchModel && v.Action != ActionFail:
		return fmt.Sprintf("unknown action %q", words.Clip(string(v.Action), 40))
	case v.Delay < 0:
		return "negative delay"
	case v.Delay > failure.MaxDelay:
		return "delay of more than 7 days"
	case !utf8.ValidString(v.Reason):
		return "reason is not valid UTF-8"
	case v.Adjust.MaxOutputTokens < 0:
		return "negative max_output_tokens"
	case !slices.Contains([]string{"", "low", "medium", "high"}, v.Adjust.ReasoningEffort):
		return fmt.Sprintf("unknown reasoning_effort %q", words.Clip(v.Adjust.ReasoningEffort, 40))
	case v.Action == ActionRetry && !r.Open.isOfTool() && r.forbids(r.Model) != "":
		return fmt.Sprintf("%q %s", words.Clip(r.Model, 100), r.forbids(r.Model))
	case v.Action == ActionSwitchModel && r.Open.lacks(v.NewModel) != "":
		return fmt.Sprintf("%q %s", words.Clip(v.NewModel, 100), r.Open.lacks(v.NewModel))
	case v.Action == ActionSwitchModel && !r.Open.offers(v.NewModel):
		return fmt.Sprintf("%q is not one of the alternatives", words.Clip(v.NewModel, 100))
	}
	return ""
}

func (o *OpenFailure) offers(model string) bool {
	return slices.ContainsFunc(o.Alternatives, func(a Alternative) bool { return a.Model == model })
}

func (r *Run) delay(d Decision) failure.Millis {
	delay := d.Delay
	if r.Call.Attempts >= 2 {
		delay = max(delay, MinDelay)
	}
	if d.Action == ActionSwitchModel && d.NewModel != r.Model {
		return max(delay, r.backoff(d.NewModel))
	}
	f := r.Open.Failure
	delay = max(delay, f.RetryAfter)
	if !f.ResetsAt.IsZero() {
		delay = max(delay, failure.InMillis(nonNegative(f.ResetsAt.Sub(r.Open.At))))
	}
	return delay
}

// blocked names the limit that forbids acting on d; "" if none does.
func (r *Run) blocked(d Decision) string {
	f := r.Open.Failure
	switch {
	case r.Open.terminal():
		return string(f.Kind)
	case r.showed():
		return blockedShown
	case r.mistaken():
		return blockedMistake
	case r.Crashes >= MaxInterruptedCrashes:
		return blockedCrashes
	case r.tooMany() != "":
		return r.tooMany()
	case r.Policy.Budget.exhausted(r.Spent) != "":
		return string(failure.KindBudget)
	case d.Adjust.Compact && r.Compactions >= MaxCompactions:
		return blockedCompactions
	case d.Adjust.Compact && !r.compactable():
		return blockedCompact
	case d.Action == ActionRetry && r.IdleBreaker():
		return blockedIdle
	case r.outOfRetries(d):
		return blockedRetries
	case d.Action == ActionRetry && r.Policy.AutoRecover && r.hopeless(d):
		return blockedHopeless
	case d.Delay > failure.MaxDelay: // the provider names a reset so far away that a person should know
		return blockedDelay
	case r.Policy.Tools == ToolsOfCaller && d.Delay > MaxInProcessWait:
		return blockedCaller
	}
	return r.overtime(d)
}

// hopeless reports whether an unchanged retry cannot help: spec §2 says so of the kind, or allows
// one retry, which was made. Nothing is repeated after a failure of a tool.
func (r *Run) hopeless(d Decision) bool {
	f := r.Open.Failure
	switch {
	case f.Kind.Once():
		return r.Call.Once > 1
	case r.Open.CallID != "" || d.Adjust.changes() || !f.ResetsAt.IsZero():
		return false
	}
	return !f.Retryable
}

// IdleBreaker reports whether the model that failed last is no longer retried, because it has timed
// out silently too often without finishing a step.
func (r *Run) IdleBreaker() bool {
	model := r.Model
	if r.Open != nil {
		model = cmp.Or(r.Open.Failure.Model, model)
	}
	return r.IdleExpiries[model] >= IdleBreakerAt
}

// overtime names the clock that would expire during d's delay; "" if none would. The turn's clock
// stands still while a run is parked.
func (r *Run) overtime(d Decision) string {
	until := r.Open.At.Add(d.Delay.Duration())
	t := r.Policy.Timeouts
	switch {
	case r.Open.Offline: // it waits for the network; nobody knows for how long
	case t.MaxTurn > 0 && d.Delay <= MaxInProcessWait && until.After(r.turnEnd()):
		return string(failure.TimerMaxTurn)
	case t.Run > 0 && until.After(r.deadline()):
		return string(failure.TimerRun)
	}
	return ""
}

// turnEnd is when the turn's time is over, unless something parks the run until then.
func (r *Run) turnEnd() time.Time {
	return r.StartedAt.Add(r.Policy.Timeouts.MaxTurn.Duration()).Add(r.Parked)
}

// deadline is when the run's time is over.
func (r *Run) deadline() time.Time {
	return r.StartedAt.Add(r.Policy.Timeouts.Run.Duration())
}
