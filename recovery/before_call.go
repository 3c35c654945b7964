package recovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// The plugins that Policy.BeforeCall names are asked about every model call before it begins.
// Whatever they say, a call begins only if permit allows it: they can ask for less than the limits
// allow, but never for more. If no plugin is named, nothing is asked and nothing is written.

// HookBeforeCall asks whether a model call may begin; HookRunEnded only reports that a run has
// ended.
const (
	HookBeforeCall = "before_call"
	HookRunEnded   = "run_ended"
)

// Hooks are the hooks that a plugin may take, in the order of a run's life. A plugin that names
// none takes HookRunError.
var Hooks = []string{HookBeforeCall, HookRunError, HookToolError, HookRunEnded}

// What a plugin says about a call that is about to begin; ActionNone is no opinion.
const (
	ActionAllow  Action = "allow"
	ActionRoute  Action = "route"  // NewModel is asked instead, after the plugins were asked about that one
	ActionHold   Action = "hold"   // the plugins are asked again at Until
	ActionRefuse Action = "refuse" // the model is not asked for this call
)

// How often one model call may be changed before it begins.
const (
	maxRoutes = 3  // to another model
	maxHolds  = 10 // until a time
)

// Gatekeeper is a plugin that is asked before every model call.
type Gatekeeper struct {
	Plugin string `json:"plugin"`
	// FailClosed: a call about which it gives no valid answer is refused. Otherwise such a call
	// begins.
	FailClosed bool `json:"failClosed,omitempty"`
}

// Gate is what the plugins have said about the call that is about to begin.
type Gate struct {
	Votes  []Vote
	Passed bool      // it may begin
	Model  string    // asked instead of the intended one; "" = the intended one
	By     *Voter    // who wants that
	Held   *Decision // it waits; nil = it does not
	HeldAt time.Time
	Routes int
	Holds  int
}

// gateOccasion is the occasion of the call that is about to begin. Its number counts the earlier
// ones that were settled, so that no vote is taken for one about another call.
func (r *Run) gateOccasion() Occasion {
	return Occasion(fmt.Sprintf("%s/%d", HookBeforeCall, r.Gates+1))
}

// Awaits reports whether votes on an occasion are wanted now.
func (r *Run) Awaits(o Occasion) bool {
	if o.Hook() == HookBeforeCall {
		return r.End == nil && o == r.gateOccasion() && (r.Gate == nil || r.Gate.Held == nil && !r.Gate.Passed)
	}
	if o.Hook() == HookToolError {
		return r.End == nil && r.FailedTool(o) != nil
	}
	return o != "" && r.Occasion() == o
}

// InputTokens is about how many tokens of input the next call has.
func (r *Run) InputTokens() int64 { return llm.Tokens(r.contextBytes) }

// Forbids says which plugin forbids a model, and why, in words that follow the model's name; "" if
// none does.
func (r *Run) Forbids(model string) string { return r.forbids(model) }

// beforeCall is what comes before a call that permit allows; nil if nothing does.
func (r *Run) beforeCall(b Began) []Effect {
	if len(r.Policy.BeforeCall) == 0 {
		return nil
	}
	return r.askBefore(b)
}

func (r *Run) askBefore(b Began) []Effect {
	if g := r.Gate; g != nil && g.Passed {
		return nil
	} else if g != nil && g.Held != nil {
		return r.holdOn(b.Model)
	}
	about := r.gateOccasion()
	if missing := r.unheard(); len(missing) > 0 {
		return r.timed(Effect{Key: "ask/" + string(about), Ask: &AskPlugins{Occasion: about, Plugins: missing, Call: &b}})
	}
	d := r.judge(b.Model)
	if d.Action == ActionAllow && len(d.Ignored) == 0 {
		return nil
	}
	return record(r, Decided{Occasion: about, Decision: d})
}

// unheard are the gatekeepers that have not said anything about the call yet.
func (r *Run) unheard() []string {
	var missing []string
	for _, k := range r.Policy.BeforeCall {
		if _, ok := r.Gate.vote(k.Plugin); !ok {
			missing = append(missing, k.Plugin)
		}
	}
	return missing
}

func (g *Gate) vote(plugin string) (Vote, bool) {
	if g != nil {
		for _, v := range g.Votes {
			if v.Plugin == plugin {
				return v, true
			}
		}
	}
	return Vote{}, false
}

// judge combines what the plugins say about a call of that model. The strictest answer wins; of
// several holds, the longest; otherwise the first in the configured order. An invalid answer is no
// opinion, or a refusal if its plugin fails closed.
func (r *Run) judge(model string) Decision {
	d := Decision{Action: ActionAllow}
	var ignored []string
	for rank, k := range r.Policy.BeforeCall {
		v, _ := r.Gate.vote(k.Plugin)
		if problem := r.misjudged(v, model); problem != "" {
			if v.Error == "" { // the vote itself does not say so
				ignored = append(ignored, k.Plugin+": "+problem)
			}
			if !k.FailClosed {
				continue
			}
			v.Action, v.Reason = ActionRefuse, "it gave no valid answer, and without one no call begins: "+problem
		}
		if !r.stricter(v, d, model) {
			continue
		}
		d = Decision{
			Action: v.Action, NewModel: v.NewModel, Until: v.Until, Reason: words.Clip(words.Tidy(v.Reason), maxForbidding),
			By: &Voter{Plugin: v.Plugin, Version: v.Version, Hash: v.Hash, Reason: v.Reason, Millis: v.Latency, Rank: rank},
		}
	}
	d.Ignored = ignored
	return r.withinLimits(d, model)
}

// stricter reports whether v is stricter than d about a call of that model.
func (r *Run) stricter(v Vote, d Decision, model string) bool {
	switch v.Action {
	case ActionRefuse:
		return d.Action != ActionRefuse
	case ActionHold:
		return v.Until.After(r.Last) && (d.Action == ActionAllow || d.Action == ActionRoute || d.Action == ActionHold && v.Until.After(d.Until))
	case ActionRoute:
		return v.NewModel != model && d.Action == ActionAllow
	}
	return false
}

// misjudged says why an answer about a call of that model does not count; "" if it does.
func (r *Run) misjudged(v Vote, model string) string {
	switch {
	case v.Error != "":
		return words.Clip(v.Error, maxForbidding)
	case !slices.Contains([]Action{ActionNone, ActionAllow, ActionRoute, ActionHold, ActionRefuse}, v.Action):
		return fmt.Sprintf("unknown verdict %q", words.Clip(string(v.Action), 40))
	case v.Action == ActionHold && v.Until.IsZero():
		return "hold names no time"
	case v.Action == ActionHold && v.Until.Sub(r.Last) > failure.MaxDelay.Duration():
		return "hold of more than 7 days"
	case v.Action == ActionRoute && v.NewModel == model:
		return ""
	case v.Action == ActionRoute && !slices.Contains(r.Policy.Models, v.NewModel):
		return fmt.Sprintf("%q is not one of the alternatives", words.Clip(v.NewModel, 100))
	case v.Action == ActionRoute && r.forbids(v.NewModel) != "":
		return fmt.Sprintf("%q %s", words.Clip(v.NewModel, 100), r.forbids(v.NewModel))
	}
	return ""
}

// withinLimits turns d into a refusal if it would exceed a limit of the run.
func (r *Run) withinLimits(d Decision, model string) Decision {
	over := ""
	switch {
	case d.Action == ActionRoute && r.Gate.Routes >= maxRoutes:
		over = "plugins do not agree which model may be asked"
	case d.Action == ActionHold:
		over = r.tooLong(d.Until)
	}
	if over != "" {
		d.Action = ActionRefuse
		d.Reason = strings.TrimPrefix(d.Reason+": "+over, ": ")
	}
	if d.Action == ActionRefuse {
		d.NewModel, d.Until = model, time.Time{}
	}
	return d
}

// tooLong says why a call cannot be held until then; "" if it can.
func (r *Run) tooLong(until time.Time) string {
	wait := until.Sub(r.Last)
	t := r.Policy.Timeouts
	switch {
	case r.Gate.Holds >= maxHolds:
		return fmt.Sprintf("the call was held %d times", r.Gate.Holds)
	case r.Policy.Tools == ToolsOfCaller && wait > MaxInProcessWait.Duration():
		return LimitInWords(blockedCaller)
	case t.MaxTurn > 0 && wait <= MaxInProcessWait.Duration() && until.After(r.turnEnd()):
		return LimitInWords(string(failure.TimerMaxTurn))
	case t.Run > 0 && until.After(r.deadline()):
		return LimitInWords(string(failure.TimerRun))
	}
	return ""
}

// votedBeforeCall keeps a vote on a call that is about to begin.
func (r *Run) votedBeforeCall(b Voted) {
	if !r.Awaits(b.Occasion) || b.Vote.Shadow {
		return
	}
	if r.Gate == nil {
		r.Gate = &Gate{}
	}
	r.Gate.Votes = append(slices.Clip(r.Gate.Votes), b.Vote)
}

// judged applies the decision about a call.
func (r *Run) judged(e Event, b Decided) {
	if b.Occasion != r.gateOccasion() {
		return
	}
	if r.Gate == nil {
		r.Gate = &Gate{}
	}
	g, d := r.Gate, b.Decision
	r.Gates++
	g.Votes = nil
	switch d.Action {
	case ActionRoute:
		g.Model, g.By = d.NewModel, d.By
		g.Routes++
	case ActionHold:
		g.Held, g.HeldAt = &d, e.Time
		g.Holds++
	case ActionRefuse:
		r.refusedCall(d)
	default:
		g.Passed = true
	}
}

// refusedCall forbids the model for this call, like a restriction.
func (r *Run) refusedCall(d Decision) {
	x := Restriction{Restrict: Restrict{Never: []string{d.NewModel}}, Reason: d.Reason, ThisCall: true}
	if d.By != nil {
		x.Plugin = d.By.Plugin
	}
	r.Restrictions = append(slices.Clip(r.Restrictions), x)
	r.Gate = nil
	if r.Open != nil {
		r.leaveOut(r.Open)
	}
}

// leaveGate is for when the call has begun, or will not: from now on, answers about it come too
// late.
func (r *Run) leaveGate() {
	if len(r.Policy.BeforeCall) > 0 {
		r.Gate = nil
		r.Gates++
	}
}

// callOver lifts what was forbidden for the call that is over.
func (r *Run) callOver() {
	ofCall := func(x Restriction) bool { return x.ThisCall }
	if slices.ContainsFunc(r.Restrictions, ofCall) {
		r.Restrictions = slices.DeleteFunc(slices.Clone(r.Restrictions), ofCall)
	}
}

// holdOn waits until a call that is held may be asked about again.
func (r *Run) holdOn(model string) []Effect {
	until := r.Gate.Held.Until
	if r.Wait != nil {
		return r.timed(timer(until, Due{Timer: failure.TimerWait}))
	}
	if over := r.overdue(r.clocks()); over != nil {
		return over
	}
	return record(r, Waiting{ID: fmt.Sprintf("%s-h%d", r.ID, r.Gates), For: WaitTime, Model: model, Until: until})
}

// isHeld reports whether plugins hold the call that is about to begin.
func (r *Run) isHeld() bool { return r.Gate != nil && r.Gate.Held != nil }

// letGo ends a hold: the plugins are asked again. The time of the hold does not count as idle.
func (r *Run) letGo(now time.Time) {
	if !r.isHeld() {
		return
	}
	if r.Open == nil {
		r.LastStepAt = r.LastStepAt.Add(nonNegative(now.Sub(r.Gate.HeldAt)))
		if r.LastStepAt.After(now) {
			r.LastStepAt = now
		}
	}
	r.Gate.Held, r.Wait, r.Status = nil, nil, StatusRunning
	r.unpark(now)
}

// heldLine says why a call is held: "budget-gate holds the call: the hour's budget is used up."
func (r *Run) heldLine() string {
	d := r.Gate.Held
	who := "A plugin"
	if d.By != nil {
		who = d.By.Plugin
	}
	if d.Reason == "" {
		return who + " holds the call"
	}
	return who + " holds the call: " + strings.TrimRight(d.Reason, ".")
}

// routedLine says who had another model asked: "Asking b/two instead of a/one (night-rule: after
// hours)…"
func (r *Run) routedLine(b Began) string {
	who := "a plugin"
	if by := r.Gate.By; by != nil {
		who = by.Plugin
		if by.Reason != "" {
			who += ": " + by.Reason
		}
	}
	return fmt.Sprintf("Asking %s instead of %s (%s)…", b.Model, r.Model, words.Clip(words.Tidy(who), maxForbidding))
}

// heldStage is the stage of a hold, as people see it.
func (r *Run) heldStage(at Stage) Stage {
	at.Asks = ""
	if r.Wait.Until.Sub(r.Gate.HeldAt) > MaxInProcessWait.Duration() {
		at.State, at.Line = StateReset, r.heldLine()+". Going on at {clock}. {leave}"
		return at
	}
	at.State, at.Line = StateRetryWait, r.heldLine()+". Going on in {countdown}…"
	return at
}
