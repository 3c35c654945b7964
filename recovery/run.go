package recovery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Status is where a run stands.
type Status string

// The statuses. A failed run with an open suggestion can still be recovered.
const (
	StatusRunning   Status = "running"
	StatusWaiting   Status = "waiting"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Run is what its events amount to. Apply and Carry are all that changes it; every field
// is for reading.
type Run struct {
	ID        string
	Seq       uint64    // of the last event applied
	Last      time.Time // its time
	StartedAt time.Time
	// WaitsUntil is the deadline of whoever asks; zero for none.
	WaitsUntil time.Time
	Session    string
	SessionKey string // what the caller calls its conversation
	AgentID    string // what the caller calls its agent
	Continues  *Head
	Owner      string
	Epoch      uint64
	Inbox      uint64 // the last command that an event answered

	Policy Policy
	System string
	Tools  []ToolDecl
	Chosen string // the model the run was started with
	Model  string // the model that is asked next

	Status   Status
	Messages []llm.Message // the transcript, this run's part with its input first; never error text
	Carried  int           // messages at its beginning that are of runs before this one; see Carry
	Rounds   int           // model calls answered
	Extended int           // how often a person gave as many rounds again
	Attempt  *Attempt      // of the round at hand; nil before its first
	Attempts uint64        // begun in all
	Call     Call          // counters of the model call at hand
	Pending  []*ToolRun    // tool calls of the last answer, in its order

	Compactions int         // of the conversation, without a finished model call in between
	Compacting  *Compacting // a summary in the air

	Open           *OpenFailure // the failure that nothing has answered yet
	Suggestion     *Suggestion  // open, or the last one; see SuggestionOpen
	Wait           *Waiting     // a live wait
	FailedAttempts int
	Granted        int            // extra attempts that persons' answers gave, in all
	Crashes        int            // interruptions in a row without a finished step
	IdleExpiries   map[string]int // by model, in a row without a finished step
	Spent          Budget
	Usage          llm.Usage
	Wasted         llm.Usage               // of it, by attempts that failed
	Saved          llm.Usage               // that going on after failures did not use again
	Repaired       map[string][]llm.Repair // by model: what was changed for it when it was told the transcript last
	LastStep       string                  // what finished last: a tool's name, "answer"; "" for nothing yet
	LastStepTook   failure.Millis
	LastStepAt     time.Time     // where the step's clock counts from; see rearmStep
	BeyondDay      bool          // a person let it go on over the day's budget
	Parked         time.Duration // time that does not count towards max_turn
	End            *Ended

	expired        failure.Timer // step, max_turn or run fired and no Failed says so yet
	cancelled      bool
	suggestionOpen bool
	suggestionOver bool   // its time is over
	acceptedID     string // the id of the suggestion or wait that was answered last, but for a stop
	truncated      bool
	again          bool      // the answer that was cut was asked for once more
	byEngine       bool      // an engine gave the last answer
	cutTokens      int64     // output tokens of the last answer
	told           int       // bytes of a request, about
	kept           llm.Usage // by attempts that were answered
	unsure         *ToolRun  // its outcome is unknown, and nobody was asked about that
	cooling        *Cooldown // of its model, before the first call
	stepDoubled    bool      // a person chose to wait longer for the step at hand
	lastSeen       time.Time // when people saw something last
	reserved       Budget
	parkedFrom     time.Time
	whole          bool // see Whole
}

// Attempt is one try at a model call.
type Attempt struct {
	ID      uint64
	Model   string
	Try     int
	BeganAt time.Time
	Adjust  Adjust
	Again   bool   // once more, after an answer that was cut; see Began.Again
	InAir   bool   // begun, and neither answered nor failed
	Orphan  bool   // in the air when its owner was lost
	Text    []byte // partial text as far as it is durable
	Notes   int    // progress notes about it
}

// Call counts the tries at one model call; an answer resets it.
type Call struct {
	Attempts int       // requests begun
	Retries  int       // of them, by a decision to retry
	Once     int       // failures of kinds that one retry may help, at the most
	FailedAt time.Time // of its first failure, from which its patience counts
	// LastRound: its patience is over, and each model that failed is asked once more; RoundFrom
	// is how many failed attempts there were before.
	LastRound bool
	RoundFrom int
	Granted   int // extra attempts that a person's answers gave
	// PassedOver is the model that was to be asked first, and cools down.
	PassedOver string
	Adjust     Adjust        // for the next attempt
	Doubled    failure.Timer // the timer whose limit the next attempt doubles
	Tried      []Tried
}

// ToolRun is a tool call of the last answer and how far it has come.
type ToolRun struct {
	Call     llm.ToolCall
	Safety   Safety
	By       string // ByEngine, or empty
	Tries    int
	BeganAt  time.Time // of the last try
	InAir    bool
	Orphan   bool
	Returned bool
	Unknown  bool           // it may or may not have taken effect
	Lost     bool           // the program stopped while it ran
	Took     failure.Millis // of one that has returned
	Limit    failure.Millis // of its timer, where that ended it
	Notes    int            // progress notes about the last try
}

// OpenFailure is a failure on its way through the hook to a decision.
type OpenFailure struct {
	Seq          uint64
	At           time.Time
	Attempt      int // within the model call, from 0
	Failure      failure.Failure
	Cause        Cause
	CallID       string
	Alternatives []Alternative
	Cooling      []Cooldown
	Votes        []Vote
	Decision     *Decision
	Accepted     bool   // a person said so: act, whatever autoRecover says
	Waited       bool   // the decision's delay is over, or the network is back
	Offline      bool   // this machine had no connection
	Compacted    bool   // the conversation was shortened, or could not be
	Pressed      string // the kind of the plugin's own button that a person pressed; the plugin is asked about it
	Presses      int    // how often such a button was pressed
	Tell         string
}

// Asking reports whether plugins are being asked: nothing is decided yet, or a person pressed
// a plugin's own button.
func (o *OpenFailure) Asking() bool { return o.Decision == nil || o.Pressed != "" }

// SuggestionOpen reports whether r's suggestion is open, as far as its events know: its time
// may be over without anybody having written that down. See OpenSuggestion.
func (r *Run) SuggestionOpen() bool {
	return r.suggestionOpen && !r.suggestionOver && !r.cancelled && r.End == nil
}

// OpenSuggestion is the suggestion that a person may answer at a time, nil for none.
func (r *Run) OpenSuggestion(now time.Time) *Suggestion {
	if !r.SuggestionOpen() || !now.Before(r.Suggestion.ExpiresAt) {
		return nil
	}
	return r.Suggestion
}

// Settled reports whether nothing more happens to r without a person: it has
// ended, or its suggestion is open.
func (r *Run) Settled() bool { return r.End != nil || r.SuggestionOpen() }

// Truncated reports whether the answer was cut at the output limit.
func (r *Run) Truncated() bool {
	return r.truncated && (r.Attempt == nil || len(r.Attempt.Text) == 0)
}

// Answer is the text of the last answer, or the partial text of the attempt that
// failed last.
func (r *Run) Answer() string {
	if r.Attempt != nil && len(r.Attempt.Text) > 0 {
		return string(r.Attempt.Text)
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleAssistant {
		return r.Messages[n-1].Text()
	}
	return ""
}

// Fold makes a run out of its events.
func Fold(events []Event) (*Run, error) {
	r := &Run{}
	for _, e := range events {
		if err := r.Apply(e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Apply changes r by one event. It refuses an event that is not the next one of
// this run and, apart from that, accepts whatever the log says.
func (r *Run) Apply(e Event) error {
	if e.Seq != r.Seq+1 {
		return fmt.Errorf("run %s: event %d cannot follow event %d", r.ID, e.Seq, r.Seq)
	}
	if r.Seq > 0 && e.Run != r.ID {
		return fmt.Errorf("run %s: an event of run %s", r.ID, e.Run)
	}
	if r.Seq == 0 {
		if _, ok := e.Body.(Started); !ok {
			return fmt.Errorf("run %s: its first event is %s, not started", e.Run, e.Type())
		}
	}
	r.Seq = e.Seq
	if e.Inbox > r.Inbox {
		r.Inbox = e.Inbox
	}
	if r.End == nil {
		r.apply(e)
	}
	if seen(e) {
		r.lastSeen = e.Time
	}
	r.Last = e.Time
	return nil
}

// Clone is r for somebody who reads it while r goes on: what Apply changes in place is
// copied, what it only adds to or replaces is shared.
func (r *Run) Clone() *Run {
	c := *r
	if r.Attempt != nil {
		attempt := *r.Attempt
		attempt.Text = slices.Clone(attempt.Text)
		c.Attempt = &attempt
	}
	if r.Open != nil {
		open := *r.Open
		c.Open = &open
	}
	c.Pending = slices.Clone(r.Pending)
	for i, t := range c.Pending {
		tool := *t
		c.Pending[i] = &tool
		if t == r.unsure {
			c.unsure = &tool
		}
	}
	c.Repaired = maps.Clone(r.Repaired)
	return &c
}

func (r *Run) apply(e Event) {
	switch b := e.Body.(type) {
	case Started:
		r.started(e, b)
	case Claimed:
		r.claimed(e, b)
	case Began:
		r.began(e, b)
	case Checkpointed:
		r.checkpointed(e, b)
	case Answered:
		r.answered(e, b)
	case Failed:
		r.failed(e, b)
	case Repaired:
		r.repaired(b)
	case Voted:
		if r.Open != nil && r.Open.Seq == b.Failure && !b.Vote.Shadow {
			r.Open.Votes = append(r.Open.Votes, b.Vote)
		}
	case Decided:
		r.decided(b)
	case Waiting:
		r.Wait = &b
		r.Status = StatusWaiting
		if b.Until.Sub(e.Time) > MaxInProcessWait.Duration() {
			r.park(e.Time)
		}
	case Due:
		r.due(e, b)
	case ToolBegan:
		r.toolBegan(e, b)
	case ToolReturned:
		r.toolReturned(e, b)
	case Compacting:
		r.compacting(b)
	case Compacted:
		r.compacted(b)
	case Noted:
		r.noted(b)
	case Slept:
		r.slept(b)
	case Suggested:
		r.suggested(e, b)
	case Accepted:
		r.accepted(e, b)
	case CancelRequested:
		r.cancelled = true
	case Paused:
		r.paused(b)
	case Ended:
		r.ended(b)
	}
}

func (r *Run) started(e Event, b Started) {
	r.ID = e.Run
	r.StartedAt, r.LastStepAt, r.WaitsUntil = e.Time, e.Time, b.WaitsUntil
	r.SessionKey, r.AgentID = b.SessionKey, b.AgentID
	r.Session, r.Continues, r.whole = b.Session, b.Continues, b.Continues == nil
	r.Policy, r.System, r.Tools = b.Policy, b.System, b.Tools
	r.Chosen, r.Model, r.cooling = b.Model, b.Model, b.Cooling
	r.told = len(b.System)
	for _, t := range b.Tools {
		r.told += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	r.say(b.Input...)
	r.Status = StatusRunning
}

// claimed loses what an older epoch had in the air.
func (r *Run) claimed(e Event, b Claimed) {
	r.Owner, r.Epoch = b.Owner, b.Epoch
	if r.Attempt != nil && r.Attempt.InAir {
		r.Attempt.Orphan = true
	}
	for _, t := range r.Pending {
		if t.InAir {
			t.InAir, t.Orphan = false, true
		}
	}
	r.Compacting = nil // it was counted when it began
	if r.Wait != nil && r.Wait.For == WaitStore {
		r.Wait, r.Status = nil, StatusRunning
	}
	if !r.Settled() && r.parkedFrom.IsZero() && e.Seq > 2 {
		r.away(nonNegative(e.Time.Sub(r.Last)))
	}
}

// slept is time in which this computer did nothing.
func (r *Run) slept(b Slept) {
	if r.parkedFrom.IsZero() {
		r.away(nonNegative(b.For.Duration()))
	}
}

// paused waits for the store, or notes that this is over. It is no idleness, so the step's
// clock did not go on meanwhile (an open failure holds it anyhow); the ceilings of the turn
// and of the run count it like any wait.
func (r *Run) paused(b Paused) {
	switch {
	case b.For <= 0:
		r.Status = StatusWaiting
		r.Wait = &Waiting{For: WaitStore}
	case r.Open == nil:
		r.LastStepAt = r.LastStepAt.Add(b.For.Duration())
	}
}

// away is time in which nobody was there: only the run's own limit counts it.
func (r *Run) away(d time.Duration) {
	r.Parked += d
	r.LastStepAt = r.LastStepAt.Add(d)
}

func (r *Run) began(e Event, b Began) {
	r.Attempts = b.Attempt
	r.Attempt = &Attempt{ID: b.Attempt, Model: b.Model, Try: b.Try, BeganAt: e.Time, Adjust: b.Adjust, Again: b.Again, InAir: true}
	r.again = b.Again
	r.Call.Attempts++
	if b.Try > 0 {
		r.Saved = r.Saved.Plus(r.kept)
	}
	if b.Retry {
		r.Call.Retries++
	}
	r.Call.Adjust, r.Call.Doubled = Adjust{}, ""
	r.Model = b.Model
	r.unsure = nil
	r.rearmStep(e.Time)
	r.resume(e.Time)
	r.reserved = b.Reserve
	r.Spent = r.Spent.Plus(b.Reserve)
}

// rearmStep lets the step's clock, which stood still while a failure was open, go
// on; a person's answer, or the step's own expiry, starts it anew.
func (r *Run) rearmStep(now time.Time) {
	o := r.Open
	if o == nil {
		return
	}
	if o.Accepted || o.Cause == CauseClock && o.Failure.Timer == failure.TimerStep {
		r.LastStepAt = now
		return
	}
	since := o.At
	if r.LastStepAt.After(since) {
		since = r.LastStepAt
	}
	r.LastStepAt = r.LastStepAt.Add(nonNegative(now.Sub(since)))
}

// resume clears everything that stood between the run and its going on.
func (r *Run) resume(now time.Time) {
	r.Status = StatusRunning
	r.Open, r.Wait = nil, nil
	r.suggestionOpen, r.suggestionOver = false, false
	r.unpark(now)
}

func (r *Run) checkpointed(e Event, b Checkpointed) {
	a := r.Attempt
	if a == nil || a.ID != b.Attempt || !a.InAir || b.Offset < 0 || b.Offset > len(a.Text) {
		return
	}
	a.Text = append(a.Text[:b.Offset], b.Text...)
	if r.Policy.StepCountsText && b.Text != "" {
		r.LastStepAt = e.Time
	}
}

func (r *Run) repaired(b Repaired) {
	if r.Repaired == nil {
		r.Repaired = map[string][]llm.Repair{}
	}
	r.Repaired[b.Model] = b.Repairs
}

func (r *Run) answered(e Event, b Answered) {
	a := r.Attempt
	if a == nil || a.ID != b.Attempt || !a.InAir {
		return
	}
	r.settle(a.Model, b.Usage)
	if a.Again {
		r.answeredAgain()
	}
	r.say(b.Message)
	r.kept = r.kept.Plus(b.Usage)
	r.Attempt, r.Call = nil, Call{}
	r.Rounds++
	r.Compactions = 0
	r.truncated, r.byEngine, r.cutTokens = b.Stop == llm.StopLength, b.By == ByEngine, b.Usage.OutputTokens
	r.finishStep(e.Time, "answer", failure.InMillis(nonNegative(e.Time.Sub(a.BeganAt))))
	r.Pending = nil
	for _, call := range b.Message.Calls() {
		t := &ToolRun{Call: call, Safety: r.safety(call.Name), By: b.By}
		if t.By == ByEngine {
			t.Safety = SafetyUnsafe // it is another tool than ours of that name
		}
		r.Pending = append(r.Pending, t)
	}
}

// say adds to the transcript.
func (r *Run) say(messages ...llm.Message) {
	r.Messages = append(r.Messages, messages...)
	r.told += sizes(messages)
}

// replace puts another transcript in the place of the one there is.
func (r *Run) replace(messages []llm.Message) {
	r.told -= sizes(r.Messages)
	r.Messages = nil
	r.say(messages...)
}

// finishStep re-arms what only progress re-arms.
func (r *Run) finishStep(now time.Time, what string, took failure.Millis) {
	r.LastStep, r.LastStepTook, r.LastStepAt = what, took, now
	r.IdleExpiries, r.Crashes, r.stepDoubled = nil, 0, false
}

func (r *Run) failed(e Event, b Failed) {
	if r.finished() && (r.Attempt == nil || r.Attempt.Again) {
		r.failedAgain(b)
		return
	}
	open := &OpenFailure{
		Seq: e.Seq, At: e.Time, Attempt: max(0, r.Call.Attempts-1), Failure: b.Failure, Cause: b.Cause, CallID: b.CallID,
		Alternatives: b.Alternatives, Cooling: b.Cooling, Offline: b.Offline, Tell: b.Tell,
	}
	if a := r.Attempt; a != nil && a.ID == b.Attempt && a.InAir {
		open.Attempt = a.Try
		r.settle(a.Model, b.Usage)
		r.Spent = r.Spent.Plus(r.Policy.unreported(a, b.Usage))
		r.Wasted = r.Wasted.Plus(b.Usage)
		a.InAir = false
		r.FailedAttempts++
		if r.Call.FailedAt.IsZero() {
			r.Call.FailedAt = e.Time
		}
		if b.Failure.Kind.Once() {
			r.Call.Once++
		}
		r.Call.Tried = append(r.Call.Tried, Tried{
			Attempt: a.Try, Model: a.Model, Code: b.Failure.Code, At: a.BeganAt, Millis: failure.InMillis(nonNegative(e.Time.Sub(a.BeganAt))),
		})
	}
	if b.Failure.IsIdle() {
		r.idled(cmp.Or(b.Failure.Model, r.Model))
	} else if b.Failure.Kind == failure.KindInterrupted {
		r.Crashes++
	}
	if r.unsure != nil && r.unsure.Call.ID == b.CallID {
		r.unsure = nil
	}
	if b.Cause == CauseCooling {
		r.cooling, r.Call.PassedOver = nil, b.Failure.Model
	}
	r.expired = ""
	r.Open = open
	r.Status = StatusRunning
	r.Wait = nil
}

func (r *Run) idled(model string) {
	counts := maps.Clone(r.IdleExpiries)
	if counts == nil {
		counts = map[string]int{}
	}
	counts[model]++
	r.IdleExpiries = counts
}

// settle replaces what was reserved for an attempt by what it used; an attempt
// that reported nothing keeps its reservation.
func (r *Run) settle(model string, used llm.Usage) {
	r.Usage = r.Usage.Plus(used)
	if used != (llm.Usage{}) {
		r.Spent = r.Spent.Minus(r.reserved).Plus(r.Policy.cost(model, used))
	}
	r.reserved = Budget{}
}

func (r *Run) due(e Event, b Due) {
	switch b.Timer {
	case failure.TimerWait, failure.TimerNetwork:
		if r.Open != nil && r.Open.Seq == b.Failure {
			r.Open.Waited = true
			r.Wait, r.Status = nil, StatusRunning
			r.unpark(e.Time)
		}
	case failure.TimerExpiry:
		if r.suggestionOpen && r.Open != nil && r.Open.Seq == b.Failure {
			r.suggestionOver = true
		}
	case failure.TimerStep, failure.TimerMaxTurn, failure.TimerRun:
		r.expired = r.named(b.Timer, e.Time)
	}
}

// named is the first of the run's clocks that are due at that time, in the order in which
// they are named, where timer is one of them.
func (r *Run) named(timer failure.Timer, now time.Time) failure.Timer {
	for _, clock := range r.clocks() {
		if due, ok := clock.Write.(Due); ok && (due.Timer == timer || !clock.At.After(now)) {
			return due.Timer
		}
	}
	return timer
}

func (r *Run) toolBegan(e Event, b ToolBegan) {
	if t := r.tool(b.CallID); t != nil {
		t.Tries++
		t.BeganAt, t.Notes = e.Time, 0
		t.InAir, t.Orphan = true, false
	}
}

func (r *Run) toolReturned(e Event, b ToolReturned) {
	t := r.tool(b.CallID)
	if t == nil {
		return
	}
	took := max(b.Elapsed, failure.InMillis(nonNegative(e.Time.Sub(t.BeganAt))))
	if t.Tries == 0 {
		took = 0
	}
	t.Lost = t.Orphan
	t.InAir, t.Orphan, t.Returned, t.Unknown = false, false, true, b.Outcome == OutcomeUnknown
	t.Took, t.Limit = took, b.Limit
	if t.Unknown && len(r.Policy.Plugins) > 0 {
		r.unsure = t
	}
	result := b.Result
	r.say(llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Result: &result}}})
	r.finishStep(e.Time, t.Call.Name, took)
}

func (r *Run) suggested(e Event, b Suggested) {
	s := b.Suggestion
	r.Suggestion = &s
	r.suggestionOpen = r.Open != nil && len(s.Actions) > 0
	r.Status = StatusFailed
	r.Wait = nil
	if r.suggestionOpen {
		r.park(e.Time)
	}
}

// accepted lets the decision act; what differs between the actions is only how
// the decision is amended first.
func (r *Run) accepted(e Event, b Accepted) {
	buttons, ok := r.answerable(b.Suggestion, e.Time)
	if !ok {
		return
	}
	button, ok := findButton(buttons, b.Action)
	if !ok || button.Effect != EffectRunner || r.Open == nil { // the failure of a call that is cut short comes first
		return
	}
	if b.Model != "" {
		button.Model = b.Model
	}
	if button.Plugin != "" {
		r.pressed(e, b, button)
		return
	}
	wasWait := r.Wait != nil
	r.suggestionOpen, r.suggestionOver, r.Wait = false, false, nil
	r.Status = StatusRunning
	r.unpark(e.Time)
	r.acceptedID = b.Suggestion
	open := r.Open
	open.Accepted, open.Waited = true, true
	if !wasWait {
		r.Call.Granted++
		r.Granted++
	}
	amended := Decision{Action: ActionRetry}
	if d := open.Decision; d != nil {
		amended.Adjust, amended.By, amended.Reason = d.Adjust, d.By, d.Reason
	}
	switch button.Kind {
	case ButtonStop:
		r.acceptedID = ""
		r.cancelled = true
		amended = Decision{Action: ActionFail}
	case ButtonCancelWait:
		r.cancelled = true
	case ButtonSwitchModel, ButtonLarger:
		amended.Action, amended.NewModel, amended.Adjust.Compact = ActionSwitchModel, button.Model, false
	case ButtonCompact:
		amended.Adjust.Compact = true
	case ButtonRerunTool:
		r.rerun(open.CallID)
	case ButtonResumeAt:
		open.Waited = !r.Suggestion.ResetsAt.After(e.Time)
		amended.Delay = failure.InMillis(nonNegative(r.Suggestion.ResetsAt.Sub(open.At)))
	case ButtonWaitLonger:
		r.Call.Doubled = open.Failure.Timer
		r.stepDoubled = open.Cause == CauseClock && open.Failure.Timer == failure.TimerStep
	case ButtonExtend:
		r.extend(open, e.Time)
	}
	open.Decision = &amended
}

// pressed puts a plugin's own button before the plugin: what it says then is decided anew.
func (r *Run) pressed(e Event, b Accepted, button Button) {
	open := r.Open
	r.suggestionOpen, r.suggestionOver = false, false
	r.Status, r.acceptedID = StatusRunning, b.Suggestion
	r.unpark(e.Time)
	open.Pressed, open.Votes, open.Waited = button.Kind, nil, false
	open.Presses++
}

// decided takes a decision. One that follows from a button that a person pressed acts like a
// person's own answer.
func (r *Run) decided(b Decided) {
	o := r.Open
	if o == nil || o.Seq != b.Failure {
		return
	}
	o.Decision = &b.Decision
	if b.Decision.LastRound && !r.Call.LastRound {
		r.Call.LastRound, r.Call.RoundFrom = true, len(r.Call.Tried)
	}
	if o.Pressed != "" && (b.Decision.Action == ActionRetry || b.Decision.Action == ActionSwitchModel) {
		o.Accepted = true
		r.Call.Granted++
		r.Granted++
	}
	o.Pressed = ""
}

// rerun takes a tool's result back, at the wish of a person who knows what that may do.
func (r *Run) rerun(callID string) {
	for _, t := range r.Pending {
		if t.Call.ID != callID || !t.Returned {
			continue
		}
		t.Returned, t.Unknown, t.Orphan = false, false, false
		messages, own := slices.Clip(r.Messages[:r.Carried]), r.Messages[r.Carried:] // ids of other runs are others
		r.replace(append(messages, slices.DeleteFunc(slices.Clone(own), func(m llm.Message) bool {
			return m.Role == llm.RoleTool && len(m.Parts) == 1 && m.Parts[0].Result != nil && m.Parts[0].Result.CallID == callID
		})...))
	}
}

// answerable gives the actions of the suggestion, live wait or call called id, if it is
// the one that may be answered at that time.
func (r *Run) answerable(id string, now time.Time) ([]Button, bool) {
	if r.End != nil || r.cancelled {
		return nil, false
	}
	if call, actions := r.CutShort(); call != "" && call == id {
		return actions, true
	}
	if a, ok := r.cutShort(id); ok {
		return r.callActions(a), true
	}
	if r.Open == nil || r.Open.Decision == nil {
		return nil, false
	}
	if r.Wait != nil && r.Wait.ID == id {
		return r.Wait.Actions, true
	}
	if s := r.OpenSuggestion(now); s != nil && s.ID == id {
		return s.Actions, true
	}
	return nil, false
}

// extend adds the expired ceiling once more. A turn's time stood still while the
// suggestion was open, the run's did not, so that is counted from now.
func (r *Run) extend(o *OpenFailure, now time.Time) {
	switch o.Cause {
	case CauseClock:
		if turn := &r.Policy.Timeouts.MaxTurn; *turn > 0 {
			*turn += o.Failure.Limit
		}
		if run := &r.Policy.Timeouts.Run; *run > 0 {
			*run = max(*run, failure.InMillis(nonNegative(now.Sub(r.StartedAt)))+o.Failure.Limit)
		}
	case CauseRounds:
		r.Extended++
	case CauseDayBudget:
		r.BeyondDay = true
	case CauseBudget:
		r.Policy.Budget = r.Policy.Budget.Plus(r.Policy.Budget)
	}
}

func (r *Run) ended(b Ended) {
	r.End = &b
	r.Status = b.Status
	r.suggestionOpen, r.Wait = false, nil
	r.unpark(r.Last)
	if r.againInAir() {
		r.leaveAgain()
	}
	if r.Attempt != nil {
		r.Attempt.InAir = false
	}
}

func (r *Run) park(now time.Time) {
	if r.parkedFrom.IsZero() {
		r.parkedFrom = now
	}
}

func (r *Run) unpark(now time.Time) {
	if !r.parkedFrom.IsZero() {
		r.Parked += nonNegative(now.Sub(r.parkedFrom))
		r.parkedFrom = time.Time{}
	}
}

// tool is the call of that id that has no result yet.
func (r *Run) tool(callID string) *ToolRun {
	for _, t := range r.Pending {
		if t.Call.ID == callID && !t.Returned {
			return t
		}
	}
	return nil
}

func (r *Run) safety(tool string) Safety {
	for _, t := range r.Tools {
		if t.Name == tool {
			return t.Safety
		}
	}
	return SafetyUnsafe
}

func nonNegative(d time.Duration) time.Duration { return max(0, d) }
