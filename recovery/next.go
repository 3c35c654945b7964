package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Effect is something that should be going on now. Two effects with the same key
// are the same one, so a shell can compare what should be with what is.
type Effect struct {
	Key string
	// Exactly one of these is set.
	Record Body // write this event now; nothing else of the set matters until it is applied
	Call   *CallModel
	Tool   *RunTool
	Ask    *AskPlugins
	Timer  *SetTimer
	Watch  *WatchNetwork

	Summarise *Summarise
}

// CallModel is a streamed model call under the policy's timers. The shell writes
// Intent before it starts, and ends it with Answered or Failed.
type CallModel struct {
	Intent  Began
	Doubled failure.Timer // the timer whose limit this attempt doubles, at a person's wish
	// InAir: the intent is durable and the call runs in this very process.
	InAir bool
}

// RunTool is one tool call. The shell writes Intent before it starts.
type RunTool struct {
	Call   llm.ToolCall
	Intent ToolBegan
	InAir  bool
}

// AskPlugins asks those plugins that have not voted on a failure yet.
type AskPlugins struct {
	Failure uint64
	Plugins []string
}

// SetTimer writes an event at a time: a Due, or a Noted for people.
type SetTimer struct {
	At    time.Time
	Write Body
}

// WatchNetwork writes Due as soon as one of the models can be reached again.
type WatchNetwork struct {
	Models []string
	Due    Due
}

// Next says what should be going on, given all that has happened to r. It is
// empty once the run has ended. A set with a Record has nothing else in it.
func Next(r *Run) []Effect {
	switch {
	case r.Seq == 0 || r.End != nil:
		return nil
	case r.cancelled:
		return record(r, Ended{Status: StatusCancelled, StopReason: "cancelled"})
	case r.suggestionOver:
		return r.fail()
	case r.suggestionOpen:
		return []Effect{timer(r.Suggestion.ExpiresAt, Due{Timer: failure.TimerExpiry, Failure: r.Open.Seq})}
	case r.Wait != nil && r.Wait.For == WaitStore:
		return nil
	case r.expired != "":
		return record(r, Failed{Attempt: r.inAir(), Failure: r.expiry(), Cause: CauseClock})
	case r.Open != nil && r.Open.CallID != "" && r.toolsInAir():
		return r.runTools() // a tool's failure does not stop those beside it
	case r.Open != nil:
		return r.answerFailure()
	case r.unsure != nil:
		return record(r, r.unknownOutcome())
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
	f.Describe(failure.Words{Lost: r.unsure.Lost})
	return Failed{CallID: r.unsure.Call.ID, Failure: f, Cause: CauseUnknownOutcome}
}

// failure is one that the log itself amounts to.
func (r *Run) failure(kind failure.Kind, origin failure.Origin, phase failure.Phase) failure.Failure {
	f := *failure.NewFailure(kind, origin, phase, nil)
	f.Model = r.Model
	f.LastStep, f.LastStepElapsed = r.LastAction(r.Last)
	return f
}

// told reports whether the failure is a tool's, which the model is told as the call's
// result: the run goes on where nobody says otherwise (spec §5).
func (o *OpenFailure) told() bool { return o.CallID != "" }

// answerFailure takes an open failure through votes and decision to its answer.
func (r *Run) answerFailure() []Effect {
	o := r.Open
	if o.Asking() {
		if missing := r.missingVotes(); len(missing) > 0 {
			return r.timed(Effect{
				Key: askKey(o),
				Ask: &AskPlugins{Failure: o.Seq, Plugins: missing},
			})
		}
		return record(r, Decided{Failure: o.Seq, Decision: Decide(r)})
	}
	d := o.Decision
	switch {
	case d.Action == ActionNone && o.told():
		return r.goOn()
	case d.Action == ActionNone && r.proposal().Action == ActionFail:
		return r.fail()
	case d.Action == ActionFail && (o.Accepted || r.Suggestion != nil && r.Suggestion.ID == r.suggestionID()):
		return r.fail()
	case d.Action == ActionNone, d.Action == ActionFail:
		return record(r, Suggested{Suggestion: r.suggest()})
	case !o.Accepted && (!r.Policy.AutoRecover || d.BlockedBy != ""):
		return record(r, Suggested{Suggestion: r.suggest()})
	case (d.Delay > 0 || o.Offline) && !o.Waited && r.Wait == nil:
		return r.beginWait()
	case r.Wait != nil && r.Wait.For == WaitNetwork:
		return r.timed(r.watch())
	case d.Delay > 0 && !o.Waited:
		return r.timed(timer(r.Wait.Until, Due{Timer: failure.TimerWait, Failure: o.Seq}))
	}
	return r.goOn()
}

// watch waits for this machine to be connected again.
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

// goOn carries a decision out: a tool call that was stopped settles first.
func (r *Run) goOn() []Effect {
	if tools := r.runTools(); len(tools) > 0 {
		return tools
	}
	if again := r.unsure; again != nil && again.Call.ID == r.Open.CallID { // it was run again, and is unsure again
		return record(r, r.unknownOutcome())
	}
	if o := r.Open; o.Decision.Adjust.Compact && !o.Compacted {
		return r.compact()
	}
	return r.callModel()
}

// proceed goes on with a run that nothing stands in the way of.
func (r *Run) proceed() []Effect {
	if tools := r.runTools(); len(tools) > 0 {
		return tools
	}
	if r.Attempt != nil && r.Attempt.InAir {
		if r.Attempt.Orphan {
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

// finished reports whether the transcript ends with an answer that asks for nothing.
func (r *Run) finished() bool {
	return r.Rounds > 0 && len(r.Pending) == 0
}

func (r *Run) callModel() []Effect {
	intent := r.intent()
	if over := r.permit(intent.Reserve); over != nil {
		return over
	}
	return r.timed(Effect{Key: callKey(intent.Attempt), Call: &CallModel{Intent: intent, Doubled: r.Call.Doubled}})
}

// outOfBudget fails the run where nothing more may begin.
func (r *Run) outOfBudget() []Effect {
	if part := r.Policy.Budget.exhausted(r.Spent); part != "" {
		return r.broke(part, Budget{})
	}
	return nil
}

// broke fails the run for want of that part of its budget, which the next call would need.
func (r *Run) broke(part string, needs Budget) []Effect {
	f := r.failure(failure.KindBudget, failure.OriginRunner, failure.PhasePrompt)
	f.Variant = part
	f.Describe(budgetWords(part, r.Spent, needs, r.Policy.Budget))
	return record(r, Failed{Failure: f, Cause: CauseBudget})
}

// intent is the Began of the attempt in the air, or of the next one.
func (r *Run) intent() Began {
	if a := r.Attempt; a != nil && a.InAir {
		b := Began{Attempt: a.ID, Round: r.Rounds + 1, Try: a.Try, Model: a.Model, Adjust: a.Adjust, Again: a.Again}
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
		// Going on after a tool or a budget is no retry, nor is it once the network is back.
		b.Retry = o.Decision.Action == ActionRetry && b.Try > 0 && !o.Offline
		if o.Decision.Action == ActionSwitchModel {
			b.Model = o.Decision.NewModel
		}
	}
	if r.Attempt != nil && len(r.Attempt.Text) > 0 {
		b.Withdraws = r.Attempt.ID
	}
	b.Reserve = r.Policy.reserve(b.Model, r.told, max(r.Policy.MaxOutputTokens, b.Adjust.MaxOutputTokens))
	return b
}

func (r *Run) runTools() []Effect {
	var effects []Effect
	room := r.room()
	for _, t := range r.Pending {
		if t.Returned {
			continue
		}
		if t.Orphan && (!t.Safety.Repeatable() || t.Tries >= MaxToolTries) {
			return record(r, ToolReturned{CallID: t.Call.ID, Outcome: OutcomeUnknown, Result: unknownResult(t.Call)})
		}
		try := t.Tries
		switch {
		case t.InAir:
			try--
		case t.By == ByEngine: // it runs already
		case room == 0:
			continue
		default:
			room--
		}
		sum := sha256.Sum256(t.Call.Args)
		effects = append(effects, Effect{
			Key: fmt.Sprintf("tool/%s/%d", t.Call.ID, try),
			Tool: &RunTool{Call: t.Call, InAir: t.InAir, Intent: ToolBegan{
				CallID: t.Call.ID, Name: t.Call.Name, Try: try,
				Key: fmt.Sprintf("%s/%d/%s", r.ID, r.Rounds, t.Call.ID), ArgsSHA256: hex.EncodeToString(sum[:]), By: t.By,
			}},
		})
	}
	if len(effects) == 0 {
		return nil
	}
	if broke := r.outOfBudget(); broke != nil && !r.toolsInAir() {
		return broke
	}
	return r.timed(effects...)
}

// room is how many tool calls may begin beside those in the air; negative for all.
func (r *Run) room() int {
	if r.Policy.ParallelTools <= 0 {
		return -1
	}
	room := r.Policy.ParallelTools
	for _, t := range r.Pending {
		if t.InAir && t.By != ByEngine && room > 0 {
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

// timed adds the clocks of the run to effects that take time.
func (r *Run) timed(effects ...Effect) []Effect {
	if o := r.Open; o != nil && o.terminal() && !o.Accepted {
		return effects // its time is over already; the hook is asked once more
	}
	clocks := r.clocks()
	if over := r.overdue(clocks); over != nil {
		return over
	}
	if note, ok := r.nextNote(); ok {
		clocks = append(clocks, note)
	}
	for _, clock := range clocks {
		effects = append(effects, Effect{Key: timerKey(clock), Timer: &clock})
	}
	return effects
}

// overdue records the first of the clocks whose time is over; nil where there is none.
func (r *Run) overdue(clocks []SetTimer) []Effect {
	for _, clock := range clocks {
		if !clock.At.After(r.Last) {
			return record(r, clock.Write)
		}
	}
	return nil
}

// clocks are the run's own timers in the order in which they are named when several
// are due at once.
func (r *Run) clocks() []SetTimer {
	var clocks []SetTimer
	t := r.Policy.Timeouts
	if t.MaxTurn > 0 && r.parkedFrom.IsZero() {
		clocks = append(clocks, SetTimer{r.turnEnd(), Due{Timer: failure.TimerMaxTurn}})
	}
	if t.Step > 0 && r.Open == nil { // a hook or a wait on purpose is nobody's idleness
		clocks = append(clocks, SetTimer{r.LastStepAt.Add(r.stepLimit().Duration()), Due{Timer: failure.TimerStep}})
	}
	if t.Run > 0 {
		clocks = append(clocks, SetTimer{r.deadline(), Due{Timer: failure.TimerRun}})
	}
	return clocks
}

// stepLimit is how long a step may take: doubled where a person chose to wait longer.
func (r *Run) stepLimit() failure.Millis {
	if r.stepDoubled {
		return 2 * r.Policy.Timeouts.Step
	}
	return r.Policy.Timeouts.Step
}

func (r *Run) toolsInAir() bool {
	for _, t := range r.Pending {
		if t.InAir {
			return true
		}
	}
	return false
}

// beginWait begins the deliberate wait before the decision acts, unless the run's time is
// over or its budget used up: the hook, or a person with a suggestion, may have taken all
// of its time, and a person may ask for a wait that the budget forbids.
func (r *Run) beginWait() []Effect {
	if over := r.overdue(r.clocks()); over != nil {
		return over
	}
	if broke := r.outOfBudget(); broke != nil {
		return broke
	}
	return record(r, r.waiting())
}

// waiting is the deliberate wait before the decision acts.
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
	case !o.Offline && retry <= r.Policy.MaxRetries:
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

// expiry is the failure that an expired clock of the run amounts to.
func (r *Run) expiry() failure.Failure {
	kind, limit, since := failure.KindRunTimeout, r.Policy.Timeouts.Run, r.StartedAt
	switch r.expired {
	case failure.TimerMaxTurn:
		kind, limit = failure.KindMaxTurnTime, r.Policy.Timeouts.MaxTurn
	case failure.TimerStep:
		kind, limit, since = failure.KindStepTimeout, r.stepLimit(), r.LastStepAt
	}
	f := r.failure(kind, failure.OriginRunner, r.phase())
	f.Timer, f.Limit = r.expired, limit
	f.Elapsed = failure.InMillis(nonNegative(r.Last.Sub(since)))
	if r.expired == failure.TimerMaxTurn {
		f.Elapsed = max(0, f.Elapsed-failure.InMillis(r.Parked))
	}
	return f
}

// phase is how far what is going on has come, as far as the log tells.
func (r *Run) phase() failure.Phase {
	switch {
	case r.toolsInAir():
		return failure.PhaseTool
	case r.inAir() == 0:
		return failure.PhasePrompt
	case len(r.Attempt.Text) > 0:
		return failure.PhaseMidStream
	}
	return failure.PhaseBeforeFirstEvent
}

func (r *Run) interrupted() failure.Failure {
	f := r.failure(failure.KindInterrupted, failure.OriginRunner, failure.PhaseMidStream)
	f.Model = r.Attempt.Model
	f.Elapsed = failure.InMillis(nonNegative(r.Last.Sub(r.Attempt.BeganAt)))
	return f
}

// fail ends the run with the failure at hand.
func (r *Run) fail() []Effect {
	reason := stopFailed
	if r.Open != nil {
		reason = r.Open.stopReason()
	}
	return record(r, Ended{Status: StatusFailed, StopReason: reason})
}

// stopFailed is the stop reason of a run whose failure has none of its own.
const stopFailed = "failed"

func (o *OpenFailure) stopReason() string {
	switch f := o.Failure; {
	case f.Kind == failure.KindStepTimeout, f.Kind == failure.KindMaxTurnTime:
		return string(f.Kind)
	case f.Kind == failure.KindRunTimeout, f.IsIdle():
		return "timeout"
	}
	return stopFailed
}

func (r *Run) missingVotes() []string {
	var missing []string
	asked := r.Policy.Plugins
	switch o := r.Open; {
	case o.Cause == CauseCooling:
		return nil
	case o.Pressed != "" && o.Decision.By != nil:
		asked = []string{o.Decision.By.Plugin}
	}
	for _, p := range asked {
		if !r.Open.voted(p) {
			missing = append(missing, p)
		}
	}
	return missing
}

func (o *OpenFailure) voted(plugin string) bool {
	for _, v := range o.Votes {
		if v.Plugin == plugin {
			return true
		}
	}
	return false
}

func (r *Run) inAir() uint64 {
	if r.Attempt != nil && r.Attempt.InAir {
		return r.Attempt.ID
	}
	return 0
}

func askKey(o *OpenFailure) string {
	if o.Presses > 0 {
		return fmt.Sprintf("ask/%d/%d", o.Seq, o.Presses)
	}
	return fmt.Sprintf("ask/%d", o.Seq)
}

func callKey(attempt uint64) string { return fmt.Sprintf("call/%d", attempt) }

func record(r *Run, b Body) []Effect {
	return []Effect{{Key: fmt.Sprintf("record/%d", r.Seq+1), Record: r.worded(b)}}
}

func timer(at time.Time, due Due) Effect {
	t := SetTimer{At: at, Write: due}
	return Effect{Key: timerKey(t), Timer: &t}
}

func timerKey(t SetTimer) string {
	due, ok := t.Write.(Due)
	if !ok {
		return fmt.Sprintf("timer/%s/%d", t.Write.eventType(), t.At.UnixMilli())
	}
	return fmt.Sprintf("timer/%s/%d/%d", due.Timer, due.Failure, t.At.UnixMilli())
}
