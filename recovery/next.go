package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Next says what should be going on, given everything that has happened to r. It is empty once the
// run has ended. If it contains a Record, it contains nothing else.
func Next(r *Run) []Effect {
	switch {
	case r.Seq == 0 || r.End != nil:
		return nil
	case r.cancelled:
		return record(r, Ended{Status: StatusCancelled, StopReason: "cancelled"})
	case r.offer == suggestionOver:
		return r.fail()
	case r.Lost && !r.finished():
		return r.giveUp()
	case r.offer == suggestionOpen:
		return []Effect{timer(r.Suggestion.ExpiresAt, Due{Timer: failure.TimerExpiry, Failure: r.Open.Seq})}
	case r.Wait != nil && r.Wait.For == WaitStore:
		return nil
	case r.expired != "":
		return record(r, Failed{Attempt: r.inAir(), Failure: r.expiry(), Cause: CauseClock})
	case r.Open != nil && r.Open.CallID != "" && r.toolsInAir():
		return r.runTools() // when one tool fails, the others go on
	case r.Open != nil:
		return r.answerFailure()
	case r.unsure != nil:
		return record(r, r.unknownOutcome())
	case r.askPerson() != nil:
		return record(r, *r.askPerson())
	case r.cooling != nil:
		return record(r, r.cooled())
	}
	return r.proceed()
}

// unknownOutcome is the failure of a tool call that may or may not have taken effect.
func (r *Run) unknownOutcome() Failed {
	f := r.failure(failure.KindToolFailure, failure.OriginTool, failure.PhaseTool)
	f.Variant, f.Tool, f.Elapsed = failure.VariantUnknownOutcome, r.unsure.Call.Name, r.unsure.Took
	if r.unsure.Limit > 0 {
		f.Timer, f.Limit = failure.TimerTool, r.unsure.Limit
	}
	f.Describe(failure.Words{Lost: r.unsure.Lost, Unanswered: r.unsure.By == ByCaller})
	return Failed{CallID: r.unsure.Call.ID, Failure: f, Cause: CauseUnknownOutcome}
}

// failure is a failure that follows from the log itself.
func (r *Run) failure(kind failure.Kind, origin failure.Origin, phase failure.Phase) failure.Failure {
	f := *failure.NewFailure(kind, origin, phase, nil)
	f.Model = r.Model
	f.LastStep, f.LastStepElapsed = r.LastAction(r.Last)
	return f
}

// answerFailure takes an open failure through votes and a decision to what is done about it.
func (r *Run) answerFailure() []Effect {
	o := r.Open
	switch {
	case o.Cause == CauseGivenUp:
		return r.fail()
	case o.asking():
		return r.advise()
	}
	d := o.Decision
	switch {
	case d.Action == ActionNone && o.isOfTool() && !o.asksPerson():
		return r.goOn()
	case d.Action == ActionNone && r.proposal().Action == ActionFail:
		return r.fail()
	case d.Action == ActionFail && (o.Accepted || r.Suggestion != nil && r.Suggestion.ID == r.suggestionID()):
		return r.fail()
	case d.Action == ActionNone, d.Action == ActionFail:
		return r.leaveToPerson()
	case !o.Accepted && (!r.Policy.AutoRecover || d.BlockedBy != ""):
		return r.leaveToPerson()
	case r.advises():
		return r.leaveToCaller()
	case (d.Delay > 0 || o.Offline) && !o.Waited && r.Wait == nil:
		return r.beginWait()
	case r.Wait != nil && r.Wait.For == WaitNetwork:
		return r.timed(r.watch())
	case d.Delay > 0 && !o.Waited:
		return r.timed(timer(r.Wait.Until, Due{Timer: failure.TimerWait, Failure: o.Seq}))
	}
	return r.goOn()
}

// watch waits until this machine is connected again.
func (r *Run) watch() Effect {
	due := Due{Timer: failure.TimerNetwork, Failure: r.Open.Seq}
	models := []string{r.Wait.Model}
	for _, a := range r.Open.Alternatives {
		if a.Model != r.Wait.Model {
			models = append(models, a.Model)
		}
	}
	return Effect{Key: fmt.Sprintf("network/%d", r.Open.Seq), Watch: &WatchNetwork{Models: models, Due: due}}
}

// goOn carries the decision out. First it settles the tool call that was stopped.
func (r *Run) goOn() []Effect {
	if tools := r.runTools(); len(tools) > 0 {
		return tools
	}
	asked := r.askApproval()
	if again := r.unsure; again != nil && (again.Call.ID == r.Open.CallID || asked != nil) { // it was run because a person said so
		return record(r, r.unknownOutcome())
	}
	if failed := r.askPerson(); failed != nil {
		return record(r, *failed)
	}
	if asked != nil {
		return asked
	}
	if o := r.Open; o.Decision.Adjust.Compact && !o.Compacted {
		return r.compact()
	}
	return r.callModel()
}

// proceed continues a run that nothing holds up.
func (r *Run) proceed() []Effect {
	if tools := r.runTools(); len(tools) > 0 {
		return tools
	}
	if asked := r.askApproval(); asked != nil {
		return asked
	}
	if r.Attempt != nil && r.Attempt.InAir() {
		if r.Attempt.State == AttemptOrphaned {
			return record(r, Failed{Attempt: r.Attempt.ID, Failure: r.interrupted()})
		}
		return r.timed(Effect{Key: callKey(r.Attempt.ID), Call: &CallModel{Intent: r.intent(), InAir: true}})
	}
	if r.finished() {
		if again := r.askAgain(); again != nil {
			return again
		}
		return record(r, Ended{Status: StatusCompleted, StopReason: "completed", Truncated: r.truncated})
	}
	return r.callModel()
}

// finished reports whether the transcript ends with an answer that calls no tools.
func (r *Run) finished() bool {
	return r.Rounds > 0 && len(r.Pending) == 0
}

func (r *Run) callModel() []Effect {
	intent := r.intent()
	if over := r.permit(intent.Model, intent.Reserve); over != nil {
		return over
	}
	if first := r.beforeCall(intent); first != nil {
		return first
	}
	return r.timed(Effect{Key: callKey(intent.Attempt), Call: &CallModel{Intent: intent, Doubled: r.Call.Doubled}})
}

// outOfBudget fails the run if its budget has no room for anything more.
func (r *Run) outOfBudget() []Effect {
	if part := r.Policy.Budget.exhausted(r.Spent); part != "" {
		return r.overBudget(part, Budget{})
	}
	return nil
}

// overBudget fails the run because that part of its budget is too small for the next call.
func (r *Run) overBudget(part string, needs Budget) []Effect {
	f := r.failure(failure.KindBudget, failure.OriginRunner, failure.PhasePrompt)
	f.Variant = part
	f.Describe(budgetWords(part, r.Spent, needs, r.Policy.Budget))
	return record(r, Failed{Failure: f, Cause: CauseBudget})
}

// intent is the Began of the attempt in the air, or of the next one.
func (r *Run) intent() Began {
	if a := r.Attempt; a != nil && a.InAir() {
		b := Began{Attempt: a.ID, Round: r.Rounds + 1, Try: a.Try, Model: a.Model, Adjust: a.Adjust, Again: a.Again, Continues: a.Continues}
		if a.Again {
			b.Round = r.Rounds
		}
		return b
	}
	b := Began{
		Attempt: r.Attempts + 1, Round: r.Rounds + 1, Try: r.Call.Attempts, Model: r.Model, Adjust: r.Call.Adjust,
	}
	if o := r.Open; o != nil && o.Decision != nil {
		b.Adjust, b.Tell = o.Decision.Adjust, o.Tell
		// Continuing after a tool's failure, a used-up budget, a lost network or a hand-over is not a retry.
		b.Retry = o.Decision.Action == ActionRetry && b.Try > 0 && !o.Offline && !o.handedOver()
		if o.Decision.Action == ActionSwitchModel {
			b.Model = o.Decision.NewModel
		}
	}
	if g := r.Gate; g != nil && g.Model != "" { // whatever the attempt is for, it counts as routed
		b.Model = g.Model
	}
	told := r.contextBytes
	switch a := r.Attempt; {
	case r.goesOn():
		b.Continues = a.ID
		told += a.Bytes
	case a != nil && a.Text != "":
		b.Withdraws = a.ID
	}
	b.Reserve = r.Policy.reserve(b.Model, told, max(r.Policy.MaxOutputTokens, b.Adjust.MaxOutputTokens))
	return b
}

func (r *Run) runTools() []Effect {
	if refused := r.tellRefusal(); refused != nil {
		return refused
	}
	if asked := r.askCaller(); asked != nil {
		return asked
	}
	var effects []Effect
	room := r.room()
	for _, t := range r.Pending {
		if t.State.Over() || t.By == ByCaller || t.Approval == approvalWanted {
			continue
		}
		if t.State == ToolCallFailed {
			asked := r.askAboutTool(t)
			if asked[0].Record != nil {
				return asked
			}
			effects = append(effects, asked...)
			continue
		}
		if wait := t.toolDelay(); wait != nil {
			effects = append(effects, Effect{Key: timerKey(*wait), Timer: wait})
			continue
		}
		if t.State == ToolCallOrphaned && (!t.Safety.Repeatable() || t.Tries >= MaxToolTries) {
			return record(r, ToolReturned{CallID: t.Call.ID, Outcome: OutcomeUnknown, Result: unknownResult(t.Call)})
		}
		try := t.Tries
		switch {
		case t.State == ToolCallInAir:
			try--
		case t.By == ByEngine: // the engine is already running it
		case room == 0:
			continue
		default:
			room--
		}
		effects = append(effects, Effect{
			Key:  fmt.Sprintf("tool/%s/%d", t.Call.ID, try),
			Tool: &RunTool{Call: t.Call, InAir: t.State == ToolCallInAir, Intent: r.toolIntent(t, try)},
		})
	}
	if len(effects) == 0 {
		return r.awaitCaller()
	}
	effects = append(effects, r.callerTimers()...)
	if effects := r.outOfBudget(); effects != nil && !r.toolsInAir() {
		return effects
	}
	return r.timed(effects...)
}

// toolIntent is the event that is durable before a call begins.
func (r *Run) toolIntent(t *ToolRun, try int) ToolBegan {
	sum := sha256.Sum256(t.Call.Args)
	return ToolBegan{
		CallID: t.Call.ID, Name: t.Call.Name, Try: try, Key: r.keyOf(t), ArgsSHA256: hex.EncodeToString(sum[:]), By: t.By,
	}
}

// keyOf is the idempotency key of a call, the same for each of its tries.
func (r *Run) keyOf(t *ToolRun) string {
	return fmt.Sprintf("%s/%d/%s", r.ID, r.Rounds, t.Call.ID)
}

// room is how many more tool calls may begin besides those in the air; negative for any number.
func (r *Run) room() int {
	if r.Policy.ParallelTools <= 0 {
		return -1
	}
	room := r.Policy.ParallelTools
	for _, t := range r.Pending {
		if t.State == ToolCallInAir && t.By == "" && room > 0 {
			room--
		}
	}
	return room
}

func unknownResult(call llm.ToolCall) llm.ToolResult {
	return llm.ToolResult{
		CallID: call.ID, Name: call.Name, IsError: true,
		Text: "The outcome of this call is unknown: the program stopped while it ran. It may or may not have taken effect. Check before calling it again.",
	}
}

// beginWait begins the deliberate wait before the decision is carried out, unless the run's time or
// budget is used up: asking plugins or a person may have taken all of its time, and a person may
// choose a wait that the budget forbids.
func (r *Run) beginWait() []Effect {
	if over := r.overdue(r.clocks()); over != nil {
		return over
	}
	if effects := r.outOfBudget(); effects != nil {
		return effects
	}
	return record(r, r.waiting())
}

// waiting is the deliberate wait before the decision is carried out.
func (r *Run) waiting() Waiting {
	o := r.Open
	w := Waiting{
		ID: fmt.Sprintf("%s-w%d", r.ID, o.Seq), For: WaitTime, Model: r.Model,
		Until: o.At.Add(o.Decision.Delay.Duration()),
	}
	retry := r.Call.Retries + 1
	switch {
	case o.Decision.Action == ActionSwitchModel:
		w.Model = o.Decision.NewModel
	case !o.Offline && !o.handedOver() && retry <= r.Policy.MaxRetries:
		w.Retry, w.Of = retry, r.Policy.MaxRetries
	}
	switch {
	case o.Offline:
		w.For, w.Until = WaitNetwork, time.Time{}
	case o.Decision.Delay > MaxInProcessWait:
		w.For = WaitReset
	}
	w.Actions = waitActions(o.Alternatives, w.Model)
	return w
}

func (r *Run) interrupted() failure.Failure {
	f := r.failure(failure.KindInterrupted, failure.OriginRunner, failure.PhaseMidStream)
	f.Model = r.Attempt.Model
	f.Elapsed = failure.InMillis(nonNegative(r.Last.Sub(r.Attempt.BeganAt)))
	return f
}

// fail ends the run with the open failure.
func (r *Run) fail() []Effect {
	reason := stopFailed
	if r.Open != nil {
		reason = r.Open.stopReason()
	}
	return record(r, Ended{Status: StatusFailed, StopReason: reason})
}

func (r *Run) inAir() uint64 {
	if r.Attempt != nil && r.Attempt.InAir() {
		return r.Attempt.ID
	}
	return 0
}
