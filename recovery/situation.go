package recovery

import (
	"cmp"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// Situation is what a person should see of a run and can do about it, the same for every client. It
// follows from the events alone: what changes as time passes is given as Stages, and what counts up
// or down as times.
type Situation struct {
	Seq        uint64  `json:"seq"` // of the last event that it takes into account
	Status     Status  `json:"status"`
	WaitingFor WaitFor `json:"waitingFor,omitempty"`
	StopReason string  `json:"stopReason,omitempty"` // of a run that has ended
	Model      string  `json:"model"`                // the model that is asked now or next
	InAir      uint64  `json:"inAir,omitempty"`      // the attempt in the air, 0 for none
	Retry      int     `json:"retry,omitempty"`      // n of "attempt n/m"; 0 = the first try
	Of         int     `json:"of,omitempty"`         // m
	// Suggestion is the id of the open suggestion; it is valid only until the last stage begins.
	Suggestion string `json:"suggestion,omitempty"`
	// Recovered stands above the text of the attempt in the air, from its first word: "Recovered
	// after 1 retry"; "" if people need not know.
	Recovered string `json:"recovered,omitempty"`
	// Held says what keeps the run from going on; nil if nothing does.
	Held *Held `json:"held,omitempty"`
	// Awaited are the tool calls that the program which started the run has to make.
	Awaited []AwaitedCall `json:"awaited,omitempty"`
	// Stages are what there is to see, in order of time; at least one. See At.
	Stages []Stage `json:"stages"`
}

// Stage is what there is to see from a certain time. Its texts, and the labels of its actions, may
// contain {elapsed}, the time since Since, in whole seconds rounded down; {countdown}, the time
// until Until, in whole seconds rounded up; and {clock}, Until as a time of day. {leave} stands for
// the client's own sentence about how to leave: "You can close this page."
type Stage struct {
	From  time.Time `json:"from"`
	State State     `json:"state"`
	Line  string    `json:"line,omitempty"`  // one line; "" if there is a card, or nothing to say
	Since time.Time `json:"since,omitzero"`  // when what is going on began
	Until time.Time `json:"until,omitzero"`  // when it will be over
	Model string    `json:"model,omitempty"` // a model that Line names in full, which a client may shorten
	// Asks is the id under which Actions are answered: that of the suggestion, the wait or the
	// call.
	Asks    string   `json:"asks,omitempty"`
	Actions []Button `json:"actions,omitempty"`
	Stop    bool     `json:"stop,omitempty"` // Stop is shown beside the actions; a run that goes on can be stopped even if it is not
	Card    *Card    `json:"card,omitempty"`
}

// Card is a failure about which a person is asked, or that ended the run. With Approval nothing has
// failed: a person is asked whether Call may be made.
type Card struct {
	Title   string        `json:"title"`
	Message string        `json:"message,omitempty"`
	Tried   string        `json:"tried,omitempty"` // "Tried 3 times over 14 s."
	Grave   bool          `json:"grave,omitempty"` // trying again would not help, or may do harm
	Why     string        `json:"why,omitempty"`   // who suggests the first action, and for what reason
	Limit   string        `json:"limit,omitempty"` // why it was not done without asking: "all retries are used up"
	Call    *llm.ToolCall `json:"call,omitempty"`  // the tool call that the failure is about

	Approval bool `json:"approval,omitempty"`
}

// State is a row in the table of states that every client can draw.
type State string

// The states.
const (
	StateIdle       State = "idle"         // nothing to say: the run has its answer
	StateThinking   State = "thinking"     // the model was asked, or is about to be
	StateSlow       State = "slow"         // the model has said nothing for a long time
	StateTool       State = "tool"         // a tool is running
	StateToolSlow   State = "tool_slow"    // a tool has been running for a long time
	StateRetryWait  State = "retry_wait"   // a retry follows at a known time
	StateRetryNow   State = "retry_now"    // a retry is in the air
	StateSwitching  State = "switching"    // another model is asked, or will be at a known time
	StateCompacting State = "compacting"   // the conversation is being shortened
	StateReset      State = "wait_reset"   // the run is parked until a time
	StateOnline     State = "wait_online"  // the run waits until this computer is online
	StateStore      State = "wait_store"   // the run waits until its store takes events
	StateCaller     State = "wait_tool"    // the run waits for a tool call that its caller makes: see Situation.Awaited
	StateMachine    State = "wait_machine" // the run waits for a machine that has what it needs
	StateStopping   State = "stopping"     // a person has stopped it, and it has not ended yet
	StateSuggestion State = "suggestion"   // a person is asked: see Card
	StateExpired    State = "expired"      // nobody answered in time
	StateSuperseded State = "superseded"   // the next message replaced the suggestion
	StateFailed     State = "failed"       // there is nothing left to offer: see Card
	StateStopped    State = "stopped"      // a person has stopped it
)

// Heard is how much a client has received of the attempt in the air, which no event says.
type Heard int

// Clients need only these rules: once there is text, no line is shown; once there is reasoning, the
// model does not count as slow.
const (
	HeardNothing Heard = iota
	HeardReasoning
	HeardText
)

// At is the stage at a time: the last one that has begun, or the first if none has.
func (s *Situation) At(now time.Time, heard Heard) Stage {
	if heard == HeardText && s.InAir != 0 {
		return Stage{From: s.Stages[0].From, State: StateIdle}
	}
	stage := s.Stages[0]
	for _, next := range s.Stages[1:] {
		if !next.From.After(now) && (heard != HeardReasoning || next.State != StateSlow) {
			stage = next
		}
	}
	return stage
}

// Said is a text of s with the times filled in as of now, for a terminal.
func (s *Stage) Said(text string, now time.Time) string {
	return strings.NewReplacer(
		"{elapsed}", seconds(now.Sub(s.Since).Truncate(time.Second)), "{countdown}", seconds((s.Until.Sub(now) + time.Second - 1).Truncate(time.Second)),
		"{clock}", words.Clock(s.Until, now), "{leave}", "You can leave; the run is kept.",
	).Replace(text)
}

// seconds writes whole seconds; a negative time counts as none.
func seconds(d time.Duration) string {
	if d < time.Second {
		return "0 s"
	}
	return words.Duration(d)
}

// The times after which something counts as slow, or is shown at all.
const (
	thinkingAfter = 3 * time.Second
	slowAfter     = 12 * time.Second
	slowerAfter   = 20 * time.Second // from here on a person may cut it short
	toolSlowAfter = 30 * time.Second
	quietBelow    = 1500 * time.Millisecond // a first retry that comes sooner is not shown
)

// Situation says what a person should see of r. The run must have begun.
func (r *Run) Situation() Situation {
	s := Situation{Seq: r.Seq, Status: r.Status, Model: r.Model, Retry: r.Call.Retries, Held: r.held(), Awaited: r.Awaited(), Stages: r.stages()}
	if s.Retry > 0 {
		s.Of = r.Policy.MaxRetries
	}
	if r.End != nil {
		s.StopReason = r.End.StopReason
	}
	if w := r.Wait; w != nil {
		s.WaitingFor, s.Model, s.Retry, s.Of = w.For, cmp.Or(w.Model, r.Model), w.Retry, w.Of
	}
	if a := r.Attempt; a != nil && a.InAir() {
		s.InAir, s.Recovered = a.ID, r.RecoveredLine()
	}
	if r.SuggestionOpen() {
		s.Suggestion = r.Suggestion.ID
	}
	return s
}

func (r *Run) stages() []Stage {
	switch {
	case r.End != nil:
		return r.over()
	case r.cancelled:
		return r.one(StateStopping, "Stopping…")
	case r.offer == suggestionOver:
		return r.one(StateExpired, expiredLine)
	case r.offer == suggestionOpen:
		return r.asking()
	case r.Wait != nil:
		return r.waits()
	case r.Compacting != nil:
		return []Stage{{From: r.Last, State: StateCompacting, Line: compactingLine(r.Model), Model: r.Model, Since: r.Last, Stop: true}}
	case r.Attempt != nil && r.Attempt.InAir():
		return r.calling(r.Attempt)
	}
	if stages := r.runningTool(); stages != nil {
		return stages
	}
	if o := r.Open; o != nil && o.Accepted && !o.asking() && !o.isOfTool() {
		model := cmp.Or(o.Decision.NewModel, r.Model)
		return []Stage{r.trying(o.Failure.Short(), model, model != r.Model, "")}
	}
	return thinking(r.Last)
}

func (r *Run) one(state State, line string) []Stage {
	return []Stage{{From: r.Last, State: state, Line: line}}
}

// over is what there is to see of a run that has ended.
func (r *Run) over() []Stage {
	switch r.Status {
	case StatusCancelled:
		return r.one(StateStopped, r.stoppedLine())
	case StatusFailed:
		switch r.offer {
		case suggestionOver:
			return r.one(StateExpired, expiredLine)
		case suggestionSuperseded:
			return r.one(StateSuperseded, supersededLine)
		case suggestionNone, suggestionOpen:
		}
		return r.failedCard()
	case StatusRunning, StatusWaiting, StatusCompleted:
	}
	return r.one(StateIdle, "")
}

// stoppedLine says that the run was stopped and, if there is text, that it is kept.
func (r *Run) stoppedLine() string {
	kept := r.Answer() != ""
	for _, m := range r.Messages[r.Carried:] {
		kept = kept || m.Role == llm.RoleAssistant && m.Text() != ""
	}
	if kept {
		return stoppedLine
	}
	return "Stopped."
}

// waits is what there is to see during a live wait.
func (r *Run) waits() []Stage {
	w := r.Wait
	at := Stage{From: r.Last, Since: r.Last, Until: w.Until, Asks: w.ID, Stop: true}
	switch w.For {
	case WaitStore:
		at.State, at.Line, at.Asks = StateStore, pausedLine(Paused{Reason: r.PausedFor}), ""
		return []Stage{at}
	case WaitNetwork:
		at.State, at.Line = StateOnline, offlineLine
		return []Stage{at}
	case WaitCaller:
		at.State, at.Asks, at.Until = StateRetryNow, "", time.Time{}
		if r.Open != nil {
			at.Line = r.adviceLine(*w)
		}
		return []Stage{at}
	case WaitTool:
		return r.awaitedStages()
	case WaitTime, WaitReset:
	}
	if r.isHeld() {
		return []Stage{r.heldStage(at)}
	}
	if r.Open == nil || w.For == WaitTime && r.quiet(w.Model) {
		return thinking(r.Last)
	}
	f := &r.Open.Failure
	at.Since, at.Model = r.Open.At, w.Model
	switch {
	case w.For == WaitReset:
		provider := cmp.Or(words.ProviderName(f.ProviderEntry()), "the provider")
		at.State, at.Line, at.Stop = StateReset, "Waiting for "+provider+" until {clock}. {leave}", false
		at.Actions = only(w.Actions, ButtonSwitchModel, ButtonCancelWait)
	case w.Model != r.Model:
		at.State, at.Line = StateSwitching, f.Short()+". Switching to "+w.Model+" in {countdown}…"
		at.Actions = only(w.Actions, ButtonRetryNow, ButtonSwitchModel)
	default:
		at.State, at.Line = StateRetryWait, f.Short()+". Retrying in {countdown}…"+attemptOf(w.Retry, w.Of)
		at.Actions = only(w.Actions, ButtonRetryNow, ButtonSwitchModel)
	}
	return []Stage{at}
}

// quiet reports whether people are told nothing about what is done for the open failure: it is the
// first retry of the same model, and comes almost at once.
func (r *Run) quiet(model string) bool {
	d := r.Open.Decision
	return d != nil && d.Action == ActionRetry && d.Delay.Duration() < quietBelow && model == r.Model && r.Call.Retries == 0 && !r.Open.Accepted
}

func only(buttons []Button, kinds ...string) []Button {
	var list []Button
	for _, kind := range kinds {
		for _, b := range buttons {
			if b.Kind == kind {
				list = append(list, b)
			}
		}
	}
	return list
}

// calling is what there is to see during a model call.
func (r *Run) calling(a *Attempt) []Stage {
	stages := thinking(a.BeganAt)
	after := a.After
	recovers := after.Failure != nil && !after.Quiet
	if recovers {
		stages = []Stage{r.trying(after.Failure.Short(), a.Model, after.Switched, attemptOf(r.Call.Retries, r.Policy.MaxRetries))}
		stages[0].From, stages[0].Since = a.BeganAt, a.BeganAt
	}
	slow := Stage{
		From: a.BeganAt.Add(slowAfter), State: StateSlow, Since: a.BeganAt, Stop: true,
		Line: "Still waiting for " + cmp.Or(words.ProviderName(entryOf(a.Model)), "the provider") + "… {elapsed}",
	}
	limits := r.Policy.TimeoutsOf(a.Model)
	id, actions := r.CutShort()
	cut := id != "" && (limits.FirstEvent > 0 || limits.Idle > 0)
	if !recovers {
		stages = append(stages, slow)
	} else if !cut {
		return stages
	}
	slow.From = a.BeganAt.Add(slowerAfter)
	if cut {
		slow.Asks, slow.Actions = id, actions
	}
	ends := a.BeganAt.Add(limits.FirstEvent.Duration())
	if !ends.After(slow.From) || !r.Policy.AutoRecover || a.Again || r.Call.Retries >= r.Policy.MaxRetries {
		return append(stages, slow)
	}
	retries := slow
	retries.Line += " · will retry in {countdown}"
	retries.Until = ends
	slow.From = ends
	return append(stages, retries, slow)
}

// trying is what there is to see while a retry, or the call after a switch, is in the air.
func (r *Run) trying(short, model string, switches bool, attempt string) Stage {
	s := Stage{From: r.Last, State: StateRetryNow, Line: short + ". Retrying…" + attempt, Since: r.Last, Stop: true}
	if switches {
		s.State, s.Line, s.Model = StateSwitching, short+". Switching to "+model+"…", model
	}
	return s
}

// runningTool shows the tool call that has been going on longest; nil if there is none.
func (r *Run) runningTool() []Stage {
	note, _, ok := r.workingOn()
	if !ok || note.CallID == "" {
		return nil
	}
	return []Stage{
		{From: note.Since, State: StateTool, Line: "Thinking…", Since: note.Since},
		{From: note.Since.Add(toolSlowAfter), State: StateToolSlow, Line: "Still working: " + note.What + ", {elapsed}", Since: note.Since, Stop: true},
	}
}

func thinking(since time.Time) []Stage {
	return []Stage{
		{From: since, State: StateThinking, Line: "Thinking…", Since: since},
		{From: since.Add(thinkingAfter), State: StateThinking, Line: "Thinking… {elapsed}", Since: since},
	}
}

// entryOf is the entry of a model's full name: "anthropic" of "anthropic/claude".
func entryOf(model string) string { return (&failure.Failure{Model: model}).ProviderEntry() }
