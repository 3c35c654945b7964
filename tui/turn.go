package tui

import (
	"cmp"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// kind says what a piece of a conversation is.
type kind int

const (
	pieceUser kind = iota
	pieceAnswer
	pieceTool
	pieceRecovered
	pieceNote
)

// piece is one thing to show of a conversation.
type piece struct {
	kind    kind
	text    string
	resets  time.Time      // what a note tells in UTC
	model   string         // that wrote an answer
	attempt uint64         // of an answer, or of what was recovered by it
	partial bool           // an answer that goes on, or broke off
	cut     bool           // an answer that was cut at the output limit
	call    *call          // of a tool
	tried   []triedFailure // before it was recovered from

	drawn drawn
}

// call is a tool call and how far it has come.
type call struct {
	id, name string
	state    string // a word for people; "" = not begun
	beganAt  time.Time
	running  bool
	failed   bool
	took     failure.Millis
	says     string
}

// callStopped is the state of a call that had not returned, or not begun, when its run ended.
const callStopped = "stopped"

// triedFailure is a failed attempt of a model call.
type triedFailure struct {
	failure failure.Failure
	model   string
	took    failure.Millis
}

// recovering is what is being done about a failure, until the first token after it.
type recovering struct {
	failure  failure.Failure
	switchTo string // the model that is tried next, where it is another one
	quiet    bool   // nobody noticed so far: the first retry, after less than quietBelow
}

// quietBelow is how short the wait for a first retry is that nobody is told of.
const quietBelow = 1500 * time.Millisecond

// closing says how a run ended, where that is more than its status.
type closing int

const (
	closedNot closing = iota
	closedExpired
	closedSuperseded
)

// turn is one message and what came of it.
type turn struct {
	run    string // "" until the gateway has begun it
	prompt string
	view   client.View
	pieces []*piece
	lost   string // why nothing more is known of it

	tried      []triedFailure   // of the model call at hand
	cooling    *failure.Failure // why the model that was to be asked first in it is not
	first      string           // the model that was asked first in it
	retries    int
	attempt    uint64  // that began last; 0 after an answer
	model      string  // that it asks
	again      bool    // it asks once more for an answer that was cut
	cut        *piece  // that answer, while the text of the other one is shown
	calls      []*call // of the last answer
	recovering *recovering
	quietWait  bool // the decision at hand retries soon
	compacting string
	paused     string
	expired    bool
	stopping   bool // a person chose to stop it
	ended      closing
}

func newTurn(prompt string) *turn {
	return &turn{prompt: prompt, pieces: []*piece{{kind: pieceUser, text: prompt}}}
}

// goesOn reports whether something happens without a person.
func (t *turn) goesOn() bool { return t.lost == "" && !t.view.State.Settled() }

// apply folds one item in.
func (t *turn) apply(item client.Item) error {
	before := t.view.State.Model
	open := t.view.State.SuggestionOpen()
	if err := t.view.Apply(item); err != nil {
		return err
	}
	if item.Event != nil {
		t.event(*item.Event, before, open)
	}
	if a := t.view.State.Attempt; a != nil && a.InAir {
		if text := t.view.Text(); text != "" && (!a.Again || len(a.Text) > 0 || text != t.view.State.Answer()) {
			t.said(a.ID, a.Model, text)
		}
	}
	return nil
}

func (t *turn) event(e recovery.Event, model string, wasOpen bool) {
	switch b := e.Body.(type) {
	case recovery.Started:
		t.started(b)
	case recovery.Began:
		t.began(b, model)
	case recovery.Answered:
		t.answered(b)
	case recovery.Failed:
		t.failed(e, b)
	case recovery.Decided:
		d := b.Decision
		t.quietWait = d.Action == recovery.ActionRetry && d.Delay.Duration() < quietBelow
	case recovery.Waiting:
		t.waits(e.Time, b)
	case recovery.ToolBegan:
		t.toolBegan(e.Time, b)
	case recovery.ToolReturned:
		t.toolReturned(b)
	case recovery.Noted:
		t.noted(e, b)
	case recovery.Compacting:
		t.compacting = b.Model
	case recovery.Compacted:
		t.compacting = ""
		t.note(e.Text)
	case recovery.Suggested:
		t.recovering = nil
	case recovery.Accepted:
		t.accepted(e, b)
	case recovery.Paused:
		t.paused = ""
		if b.For <= 0 {
			t.paused = e.Text
		} else {
			t.note(e.Text)
		}
	case recovery.Claimed:
		t.paused = ""
	case recovery.Due:
		t.expired = t.expired || b.Timer == failure.TimerExpiry
	case recovery.CancelRequested:
		t.stopping = true
	case recovery.Repaired, recovery.Slept:
		t.note(e.Text)
	case recovery.Ended:
		t.end(b, wasOpen)
	}
}

func (t *turn) started(b recovery.Started) {
	for _, m := range b.Input {
		if m.Role == llm.RoleUser {
			t.prompt = m.Text()
			t.pieces[0].text = t.prompt
		}
	}
}

func (t *turn) began(b recovery.Began, model string) {
	t.withdraw(t.attempt)
	t.attempt, t.model, t.again, t.compacting = b.Attempt, b.Model, b.Again, ""
	if b.Retry {
		t.retries++
	}
	if len(t.tried) == 0 {
		t.first, t.recovering = b.Model, nil
		if t.cooling != nil {
			t.first = t.cooling.Model
			t.recovering = &recovering{failure: *t.cooling, switchTo: b.Model}
		}
		return
	}
	r := &recovering{failure: t.tried[len(t.tried)-1].failure}
	if b.Model != model {
		r.switchTo = b.Model
	}
	r.quiet = t.retries == 1 && t.quietWait && r.switchTo == ""
	t.recovering = r
}

// withdraw takes what an attempt wrote, and that it recovered, out of the conversation.
func (t *turn) withdraw(attempt uint64) {
	if attempt == 0 {
		return
	}
	t.pieces = slices.DeleteFunc(t.pieces, func(p *piece) bool { return p.attempt == attempt })
}

// said shows what an attempt has said so far.
func (t *turn) said(attempt uint64, model, text string) *piece {
	last := t.pieces[len(t.pieces)-1]
	if last.kind != pieceAnswer || last.attempt != attempt {
		t.hideCut()
		t.tellRecovery(attempt, model)
		last = &piece{kind: pieceAnswer, attempt: attempt, model: model, partial: true}
		t.pieces = append(t.pieces, last)
	}
	last.text = text
	t.recovering = nil
	return last
}

// hideCut takes an answer that was cut out of the conversation, for that of the call that asks
// for it once more is there.
func (t *turn) hideCut() {
	if !t.again || t.cut != nil {
		return
	}
	for i, p := range slices.Backward(t.pieces) {
		if p.kind == pieceAnswer {
			t.cut, t.pieces = p, slices.Delete(slices.Clone(t.pieces), i, i+1)
			return
		}
	}
}

// leaveAgain puts it back where the other one broke off.
func (t *turn) leaveAgain() {
	if !t.again {
		return
	}
	t.withdraw(t.attempt)
	if t.cut != nil {
		t.pieces = append(t.pieces, t.cut)
	}
	t.attempt, t.again, t.cut = 0, false, nil
}

// tellRecovery adds the line about what it took to get an answer.
func (t *turn) tellRecovery(attempt uint64, model string) {
	if len(t.tried) == 0 && t.cooling == nil || t.retries == 0 && model == t.first {
		return
	}
	now, cooling := "", ""
	if model != t.first {
		now = model
	}
	if len(t.tried) == 0 {
		cooling = t.first
	}
	t.pieces = append(t.pieces, &piece{kind: pieceRecovered, attempt: attempt, text: recoveredText(t.retries, cooling, now), tried: slices.Clone(t.tried)})
}

func (t *turn) answered(b recovery.Answered) {
	model := cmp.Or(b.Message.Model, t.model)
	t.hideCut()
	if text := b.Message.Text(); text != "" {
		p := t.said(b.Attempt, model, text)
		p.partial, p.cut = false, b.Stop == llm.StopLength
	} else {
		t.tellRecovery(b.Attempt, model)
	}
	t.calls = nil
	for _, c := range b.Message.Calls() {
		one := &call{id: c.ID, name: c.Name}
		t.calls = append(t.calls, one)
		t.pieces = append(t.pieces, &piece{kind: pieceTool, call: one})
	}
	t.tried, t.cooling, t.recovering, t.retries, t.attempt = nil, nil, nil, 0, 0
	t.again, t.cut = false, nil
}

func (t *turn) failed(e recovery.Event, b recovery.Failed) {
	t.compacting = ""
	if t.again {
		t.leaveAgain()
		t.note(e.Text)
		return
	}
	if b.Cause == recovery.CauseCooling {
		t.cooling = &b.Failure
	}
	if b.Attempt == 0 {
		return
	}
	t.pieces = slices.DeleteFunc(t.pieces, func(p *piece) bool { // it had not recovered after all
		return p.kind == pieceRecovered && p.attempt == b.Attempt
	})
	one := triedFailure{failure: b.Failure, model: b.Failure.Model}
	if tried := t.view.State.Call.Tried; len(tried) > 0 {
		one.model, one.took = tried[len(tried)-1].Model, tried[len(tried)-1].Millis
	}
	t.tried = append(t.tried, one)
}

func (t *turn) waits(at time.Time, b recovery.Waiting) {
	open := t.view.State.Open
	if open == nil {
		return
	}
	r := &recovering{failure: open.Failure}
	if b.Model != t.view.State.Model {
		r.switchTo = b.Model
	}
	r.quiet = b.For == recovery.WaitTime && b.Retry == 1 && r.switchTo == "" && b.Until.Sub(at) < quietBelow
	t.recovering = r
}

func (t *turn) call(id string) *call {
	for _, c := range t.calls {
		if c.id == id {
			return c
		}
	}
	return &call{}
}

func (t *turn) toolBegan(at time.Time, b recovery.ToolBegan) {
	c := t.call(b.CallID)
	c.state, c.running, c.failed, c.says, c.beganAt = "running", true, false, "", at
}

func (t *turn) toolReturned(b recovery.ToolReturned) {
	c := t.call(b.CallID)
	c.running, c.took, c.says = false, b.Elapsed, ""
	switch b.Outcome {
	case recovery.OutcomeOK:
		c.state = "done"
	case recovery.OutcomeUnknown:
		c.state, c.failed = "outcome unknown", true
	default:
		c.state, c.failed = "failed", true
		c.says = words.Clip(b.Result.Text, recovery.MaxNote)
	}
}

func (t *turn) noted(e recovery.Event, b recovery.Noted) {
	switch b.Topic {
	case recovery.TopicProgress: // the line says it, second by second
	case recovery.TopicToolSays:
		t.call(b.CallID).says = b.Detail
	default:
		t.note(e.Text)
	}
}

func (t *turn) note(text string) {
	if text != "" {
		t.pieces = append(t.pieces, &piece{kind: pieceNote, text: text})
	}
}

func (t *turn) accepted(e recovery.Event, b recovery.Accepted) {
	t.quietWait = false
	t.note(e.Text)
	if s := t.view.State.Suggestion; s != nil {
		t.pieces[len(t.pieces)-1].resets = s.ResetsAt
	}
	open := t.view.State.Open
	if open == nil || open.Decision == nil {
		return
	}
	d := open.Decision
	if d.Action == recovery.ActionRetry || d.Action == recovery.ActionSwitchModel {
		t.recovering = &recovering{failure: open.Failure}
		if to := cmp.Or(b.Model, d.NewModel); to != t.view.State.Model {
			t.recovering.switchTo = to
		}
	}
}

func (t *turn) end(b recovery.Ended, wasOpen bool) {
	t.leaveAgain()
	t.recovering, t.compacting, t.paused = nil, "", ""
	for _, c := range t.calls {
		if c.running || c.state == "" {
			c.state, c.running, c.says = callStopped, false, ""
		}
	}
	switch {
	case b.Status != recovery.StatusFailed:
	case t.expired:
		t.ended = closedExpired
	case wasOpen:
		t.ended = closedSuperseded
	}
}

// partialText reports whether the conversation ends with what a failed attempt said.
func (t *turn) partialText() bool {
	last := t.pieces[len(t.pieces)-1]
	return last.kind == pieceAnswer && last.text != ""
}
