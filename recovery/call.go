package recovery

import (
	"cmp"
	"maps"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// AttemptState is how far an attempt has got. An attempt that was answered is not kept.
type AttemptState string

// The states of an attempt.
const (
	AttemptInAir    AttemptState = "in_air"   // begun, by the run's present owner
	AttemptOrphaned AttemptState = "orphaned" // begun, by an owner that was lost
	AttemptOver     AttemptState = "over"     // it failed, or its run has ended
)

// Attempt is one try at a model call.
type Attempt struct {
	ID      uint64
	Model   string
	Try     int
	BeganAt time.Time
	Adjust  Adjust
	Again   bool // the previous answer was cut at the output limit; see Began.Again
	State   AttemptState
	Text    string // all its text once it is over; until then the text that it continues
	Notes   int    // progress notes about it
	// Continues is the attempt whose text this one continues, 0 for none; the first Base bytes of
	// its text are that attempt's.
	Continues   uint64
	Base        int
	Bytes       int   // length of its text when it failed
	Continuable bool  // another attempt may continue its text
	Shown       Shown // how much of its text the caller has seen
	After       After
}

// After is what people are told of while an attempt that follows a failure has produced nothing
// yet. It is zero for an attempt that follows none.
type After struct {
	Failure  *failure.Failure
	Switched bool // the failure was another model's
	Quiet    bool // people are told nothing; see Run.quiet
}

// Call counts the attempts at one model call; an answer resets it.
type Call struct {
	Attempts int       // requests begun
	Retries  int       // those of them made by a decision to retry
	Once     int       // failures of kinds for which a single retry makes sense
	FailedAt time.Time // when it failed first; its patience counts from here
	// LastRound says that its patience is over, and that each model that failed is asked once more;
	// RoundFrom is how many attempts had failed before that.
	LastRound bool
	RoundFrom int
	Granted   int // extra attempts that people's answers added
	// PassedOver is the model that the run would have asked first, but which is cooling down.
	PassedOver string
	Adjust     Adjust        // for the next attempt
	Doubled    failure.Timer // the timer whose limit the next attempt doubles
	Tried      []Tried
}

// InAir reports whether the attempt has begun and, as far as the log knows, has neither been
// answered nor failed. Such an attempt may be an orphan.
func (a *Attempt) InAir() bool { return a.State != AttemptOver }

func (r *Run) began(e Event, b Began) {
	r.Attempts = b.Attempt
	r.leaveGate()
	if r.Open != nil && b.Model != r.Model {
		r.Trouble.Switches++
	}
	after, last := r.after(b.Model), r.Attempt
	r.Attempt = &Attempt{ID: b.Attempt, Model: b.Model, Try: b.Try, BeganAt: e.Time, Adjust: b.Adjust, Again: b.Again, State: AttemptInAir, After: after}
	last.takeOver(r.Attempt, b)
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
	if r.advises() && b.Adjust.Compact { // the caller was told to shorten the conversation, and does not report whether it did
		r.Compactions++
	}
	r.resume(e.Time)
	r.reserved = b.Reserve
	r.Spent = r.Spent.Plus(b.Reserve)
}

// after is the failure that the next attempt, of model, follows.
func (r *Run) after(model string) After {
	o := r.Open
	if o == nil || o.isOfTool() {
		return After{}
	}
	return After{Failure: &o.Failure, Switched: model != r.Model, Quiet: r.quiet(model)}
}

// rearmStep starts the step's clock again, which stood still while a failure was open. After a
// person's answer, or after the step itself expired, it starts from zero.
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

// stopped keeps the text of the attempt that a person stopped.
func (r *Run) stopped(b CancelRequested) {
	if a := r.Attempt; a != nil && a.ID == b.Attempt && a.InAir() {
		a.Text = cmp.Or(b.Text, a.Text)
	}
}

// Saying is b with text, all that its attempt has said, or with a digest of it if texts are not
// kept. It need not be known whether b's attempt said anything.
func (r *Run) Saying(b Failed, text string) Failed {
	a := r.Attempt
	if a == nil || a.ID != b.Attempt {
		return b
	}
	switch {
	case r.Policy.Keep != KeepFigures:
		b.Text = a.Text + text
	case a.Base > 0:
		b.Said = &Digest{Bytes: a.Base + len(text)}
	case text != "":
		b.Said = DigestOf([]byte(text))
	}
	if text != "" && b.Failure.Phase == failure.PhaseBeforeFirstEvent {
		b.Failure.Phase = failure.PhaseMidStream
	}
	return b
}

func (r *Run) repaired(b Repaired) {
	if r.Repaired == nil {
		r.Repaired = map[string][]llm.Repair{}
	}
	r.Repaired[b.Model] = b.Repairs
}

func (r *Run) answered(e Event, b Answered) {
	a := r.Attempt
	if a == nil || a.ID != b.Attempt || !a.InAir() {
		return
	}
	r.settle(a.Model, b.Usage)
	if a.Again {
		r.answeredAgain()
	}
	r.say(b.Message)
	r.kept = r.kept.Plus(b.Usage)
	r.Trouble.overcome(r.Call.FailedAt, e.Time)
	r.Attempt, r.Call = nil, Call{}
	r.callOver()
	r.Rounds++
	r.Compactions = 0
	r.truncated, r.byEngine, r.cutTokens = b.Stop == llm.StopLength, b.By == ByEngine, b.Usage.OutputTokens
	r.finishStep(e.Time, "answer", failure.InMillis(nonNegative(e.Time.Sub(a.BeganAt))))
	r.Pending = nil
	if r.Policy.Tools == ToolsOfCaller {
		return
	}
	for _, p := range b.Message.Parts {
		if p.Call != nil {
			r.want(*p.Call, b.By)
		}
	}
}

// want adds a tool call of the answer that by gave.
func (r *Run) want(call llm.ToolCall, by string) {
	t := &ToolRun{Call: call, State: ToolCallWanted, By: by}
	if by != ByEngine { // otherwise one of our tools only has the same name
		tool := r.declared(call.Name)
		t.Safety, t.By = tool.Safety, cmp.Or(tool.By, by)
		if tool.Approval {
			t.Approval = approvalWanted
		}
	}
	r.Pending = append(r.Pending, t)
}

// say adds to the transcript.
func (r *Run) say(messages ...llm.Message) {
	r.Messages = append(r.Messages, messages...)
	r.contextBytes += sizes(messages)
}

// replace replaces the transcript.
func (r *Run) replace(messages []llm.Message) {
	r.contextBytes -= sizes(r.Messages)
	r.Messages = nil
	r.say(messages...)
}

// finishStep resets everything that a finished step resets.
func (r *Run) finishStep(now time.Time, what string, took failure.Millis) {
	r.LastStep, r.LastStepTook, r.LastStepAt = what, took, now
	r.IdleExpiries, r.Crashes, r.stepDoubled = nil, 0, false
}

func (r *Run) failed(e Event, b Failed) {
	r.leaveGate()
	if r.finished() && (r.Attempt == nil || r.Attempt.Again) {
		r.failedAgain(b)
		return
	}
	open := &OpenFailure{
		Seq: e.Seq, At: e.Time, Attempt: max(0, r.Call.Attempts-1), Failure: b.Failure, Cause: b.Cause, CallID: b.CallID,
		Alternatives: b.Alternatives, Cooling: b.Cooling, Unfit: b.Unfit, Offline: b.Offline, Tell: b.Tell,
		Told: b.Told,
	}
	if a := r.Attempt; a != nil && a.ID == b.Attempt && a.InAir() {
		open.Attempt = a.Try
		a.Text = cmp.Or(b.Text, a.Text)
		if b.Text != "" && b.Cause != CauseClock {
			r.stepBy(e.Time)
		}
		r.settle(a.Model, b.Usage)
		unreported := r.Policy.unreported(a, b.Said, b.Usage)
		r.Spent = r.Spent.Plus(unreported)
		r.Wasted = r.Wasted.Plus(b.Usage)
		r.Trouble.met(b.Failure.Kind, r.Policy.Cost(a.Model, b.Usage).Plus(unreported))
		a.State, a.Continuable, a.Shown = AttemptOver, b.Continuable, cmp.Or(b.Shown, a.Shown)
		a.Bytes = a.heard(b.Said)
		r.FailedAttempts++
		if r.Call.FailedAt.IsZero() && b.Cause != CauseHandedOver {
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
	} else if b.Failure.Kind == failure.KindInterrupted && b.Cause != CauseHandedOver {
		r.Crashes++
	}
	if r.unsure != nil && r.unsure.Call.ID == b.CallID {
		r.unsure = nil
	}
	if b.Cause == CauseCooling {
		r.cooling, r.Call.PassedOver = nil, b.Failure.Model
	}
	r.expired = ""
	if b.CallID != "" {
		r.settleFailed(e, b.CallID)
	}
	r.leaveOutPlugins(open)
	r.Open = open
	r.leaveOut(open)
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

// settle replaces the reservation of an attempt with what it used. An attempt that reported nothing
// keeps its reservation.
func (r *Run) settle(model string, used llm.Usage) {
	r.Usage = r.Usage.Plus(used)
	if used != (llm.Usage{}) {
		r.Spent = r.Spent.Minus(r.reserved).Plus(r.Policy.Cost(model, used))
	}
	r.reserved = Budget{}
}
