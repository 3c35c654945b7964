package tell

import (
	"reflect"
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Listener is told what happens to a run, in order.
type Listener interface {
	// Step begins what one model call says. Its name is unique in the run, and the same for every
	// listener.
	Step(name string)
	// Withdraw says that the content of the step is void.
	Withdraw()
	Thinking(text string)
	Text(text string)
	// Call is a tool call of the step; it ends the step's text.
	Call(c llm.ToolCall)
	Returned(r llm.ToolResult, outcome recovery.Outcome)
	// Recovery replaces what was said before about the recovery.
	Recovery(r Recovery)
	// Passing says something that is only of interest at the moment.
	Passing(r Recovery)
	// Notice is a line for people to see at once.
	Notice(line string)
	// End is told last.
	End(e End)
}

// End is the outcome of a run.
type End struct {
	Run        string
	Model      string
	Status     recovery.Status
	Truncated  bool
	Usage      llm.Usage
	Suggestion *recovery.Suggestion // the open one; nil = none
	Failure    *failure.Failure     // of a run that failed
	Line       string               // one line for people about a run that did not complete
}

// Teller tells a listener about one run.
type Teller struct {
	to       Listener
	caughtUp uint64 // the run's last event when the client asked
	answered string // the suggestion that the client itself has answered

	state    recovery.Run
	attempt  uint64
	name     string // of the step that it is in, or will begin
	open     bool   // the step has content
	reopened int    // how often an attempt continued after its own tool calls
	shown    int    // bytes of the attempt's text that were shown
	thought  int    // bytes of its reasoning that were shown
	held     string // text that may turn out void

	said    Recovery
	passing Recovery
	over    bool
}

// New makes a Teller for a client that asked when seq was the run's last event. answered is the
// suggestion that the client itself has answered, "" if none.
func New(to Listener, seq uint64, answered string) *Teller {
	return &Teller{to: to, caughtUp: seq, answered: answered}
}

// Over reports whether the listener was told the end.
func (t *Teller) Over() bool { return t.over }

// Item takes an item that a follower of the run gets.
func (t *Teller) Item(item timeline.Item, now time.Time) error {
	switch {
	case t.over:
	case item.Delta != nil && item.Delta.Attempt == t.attempt:
		t.delta(item.Delta)
	case item.Notice != nil:
		t.to.Notice(item.Notice.Text)
	case item.Event != nil:
		return t.event(*item.Event, now)
	}
	return nil
}

func (t *Teller) delta(d *timeline.Delta) {
	if d.Thinking {
		t.think(newOf(&t.thought, d.Offset, d.Text))
		return
	}
	t.hear(newOf(&t.shown, d.Offset, d.Text))
}

// hear takes what an answering model says.
func (t *Teller) hear(text string) {
	if text != "" {
		t.recovered(t.state.RecoveredLine())
		t.say(text)
	}
}

// newOf is the part of a piece of text that is new, and that can be shown because nothing before
// it is missing.
func newOf(known *int, offset int, text string) string {
	if offset < 0 || offset > *known || offset+len(text) <= *known {
		return ""
	}
	text = text[*known-offset:]
	*known += len(text)
	return text
}

func (t *Teller) say(text string) {
	if text != "" {
		t.begin()
		t.to.Text(text)
	}
}

func (t *Teller) think(text string) {
	if text != "" {
		t.begin()
		t.to.Thinking(text)
	}
}

// begin begins the step, unless it has begun.
func (t *Teller) begin() {
	if !t.open {
		t.open = true
		t.to.Step(t.name)
	}
}

func (t *Teller) event(e recovery.Event, now time.Time) error {
	line := recovery.LocalText(&t.state, e, now)
	if err := t.state.Apply(e); err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case recovery.Began:
		t.began(b)
	case recovery.Answered:
		t.answers(b, line)
	case recovery.Failed:
		if b.Attempt != 0 && b.Attempt == t.attempt {
			t.held = b.Text
		}
	case recovery.CancelRequested:
		if b.Attempt != 0 && b.Attempt == t.attempt {
			t.held = b.Text
		}
	case recovery.ToolReturned:
		t.to.Returned(b.Result, b.Outcome)
	}
	if e.Seq >= t.caughtUp || t.state.End != nil {
		t.release()
		t.stands(line, now)
	}
	return nil
}

// began switches to another attempt.
func (t *Teller) began(b recovery.Began) {
	base := ""
	if a := t.state.Attempt; a != nil { // it continues another one's text
		base = a.Text
	}
	goesOn := base != "" && t.shown <= len(base)
	if t.open && !goesOn {
		t.open = false
		t.to.Withdraw()
	}
	if !t.open {
		t.shown, t.thought = 0, 0
	}
	if !goesOn || t.name == "" {
		t.name = strconv.FormatUint(b.Attempt, 10)
	}
	t.attempt, t.reopened, t.held = b.Attempt, 0, base
}

// release shows text that was held back.
func (t *Teller) release() {
	if t.held != "" {
		t.say(newOf(&t.shown, 0, t.held))
		t.held = ""
	}
}

func (t *Teller) answers(b recovery.Answered, line string) {
	if t.thought == 0 {
		for _, p := range b.Message.Parts {
			if p.Thinking != nil {
				t.think(p.Thinking.Text)
			}
		}
	}
	t.recovered(line)
	t.held = ""
	t.say(newOf(&t.shown, 0, b.Message.Text()))
	calls := b.Message.Calls()
	if len(calls) == 0 {
		return
	}
	t.begin()
	for _, c := range calls {
		t.to.Call(c)
	}
	t.open, t.shown, t.thought, t.said = false, 0, 0, Recovery{}
	t.reopened++ // in case it continues without another attempt, as engines do
	t.name = strconv.FormatUint(t.attempt, 10) + "." + strconv.Itoa(t.reopened)
}

// recovered says, once for each model call, that the recovery succeeded. It says nothing if the
// listener knows of no recovery.
func (t *Teller) recovered(line string) {
	if t.said.Phase == PhaseRecovered || line == "" && t.said.Phase == "" {
		return
	}
	t.said = Recovery{Run: t.state.ID, Phase: PhaseRecovered, Text: line, Model: t.state.Model}
	t.to.Recovery(t.said)
}

// stands tells the run's state, and its end if nothing more happens without a person.
func (t *Teller) stands(line string, now time.Time) {
	open := t.state.OpenSuggestion(now)
	if t.state.SuggestionOpen() && t.answered != "" && t.state.Suggestion.ID == t.answered {
		return // it continues at once
	}
	t.look(now)
	if !t.state.Settled() {
		return
	}
	e := End{
		Run: t.state.ID, Model: t.state.Model, Status: t.state.Status, Truncated: t.state.Truncated(), Usage: t.state.Usage, Suggestion: open,
	}
	if e.Status != recovery.StatusCompleted {
		e.Line = line
		if t.said.Phase != "" && t.said.Phase != PhaseRecovered && t.said.Text != "" {
			e.Line = t.said.Text
		}
		if o := t.state.Open; o != nil {
			e.Failure = &o.Failure
		}
	}
	t.over = true
	t.to.End(e)
}

// Look tells what has changed because time passed, and returns when to call it again; zero = after the
// next item.
func (t *Teller) Look(now time.Time) (again time.Time) {
	if t.over || t.state.Seq == 0 || t.state.Seq < t.caughtUp {
		return time.Time{}
	}
	t.look(now)
	sit := t.state.Situation()
	for _, s := range sit.Stages {
		if s.From.After(now) {
			return s.From
		}
	}
	return time.Time{}
}

func (t *Teller) look(now time.Time) {
	heard := recovery.HeardNothing
	switch {
	case t.shown > 0:
		heard = recovery.HeardText
	case t.thought > 0:
		heard = recovery.HeardReasoning
	}
	v := Look(&t.state, now, heard)
	if v.Phase == PhaseSlow {
		if !same(v, t.passing) {
			t.passing = v
			t.to.Passing(v)
		}
		return
	}
	t.passing = Recovery{}
	if v.Phase == "" || same(v, t.said) {
		return
	}
	t.said = v
	t.to.Recovery(v)
}

// same reports whether both say the same, ignoring the clock.
func same(a, b Recovery) bool {
	if !a.RetryAt.IsZero() && a.RetryAt.Equal(b.RetryAt) || a.Phase == PhaseSlow {
		a.Text = b.Text
	}
	return reflect.DeepEqual(a, b)
}
