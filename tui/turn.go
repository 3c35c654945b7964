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
	resets  time.Time      // a time that a note says in UTC
	model   string         // wrote the answer
	attempt uint64         // of an answer, or of what its recovery cost
	partial bool           // an answer in progress, or one that broke off
	cut     bool           // an answer that was cut at the output limit
	call    *call          // of a tool
	tried   []triedFailure // failed before the recovery

	drawn drawn
}

// call is a tool call and its progress.
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

// turn is one message and its run.
type turn struct {
	run    string // "" until the gateway has begun it
	others bool   // begun elsewhere while this chat was open
	prompt string
	view   client.View
	pieces []*piece
	lost   string // why nothing more is known about it

	tried    []triedFailure // of the current model call
	attempt  uint64         // the latest; 0 after an answer
	model    string         // the one it asks
	again    bool           // it repeats a call whose answer was cut
	cut      *piece         // the cut answer, while the other one's text is shown
	calls    []*call        // of the last answer
	stopping bool           // a person chose to stop it
}

func newTurn(prompt string) *turn {
	return &turn{prompt: prompt, pieces: []*piece{{kind: pieceUser, text: prompt}}}
}

// goesOn reports whether the run continues without a person.
func (t *turn) goesOn() bool { return t.lost == "" && !t.view.State.Settled() }

// apply adds one item.
func (t *turn) apply(item client.Item) error {
	if err := t.view.Apply(item); err != nil {
		return err
	}
	if item.Event != nil {
		t.event(*item.Event)
	}
	if a := t.view.State.Attempt; a != nil && a.InAir() {
		if text := t.view.Text(); text != "" && (!a.Again || len(a.Text) > 0 || text != t.view.State.Answer()) {
			t.said(a.ID, a.Model, text, t.view.State.RecoveredLine()) // what the gateway sends may be ahead
		}
	}
	return nil
}

func (t *turn) event(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Started:
		t.started(b)
	case recovery.Began:
		t.began(b)
	case recovery.Answered:
		t.answered(e, b)
	case recovery.Failed:
		t.failed(e, b)
	case recovery.ToolBegan:
		t.toolBegan(e.Time, b)
	case recovery.ToolReturned:
		t.toolReturned(b)
	case recovery.Noted:
		t.noted(e, b)
	case recovery.Accepted:
		t.accepted(e)
	case recovery.Paused:
		if b.For > 0 {
			t.note(e.Text)
		}
	case recovery.CancelRequested:
		t.stopping = true
		if !t.again {
			t.left(b.Attempt, b.Text)
		}
	case recovery.Ended:
		t.end()
	case recovery.Waiting, recovery.Suggested, recovery.Due, recovery.Compacting: // the run's state says it, as long as it is true
	default: // including those of a newer version
		t.note(e.Text)
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

func (t *turn) began(b recovery.Began) {
	t.withdraw(t.attempt)
	t.attempt, t.model, t.again = b.Attempt, b.Model, b.Again
}

// withdraw removes an attempt's text, and the line about its recovery, from the
// conversation.
func (t *turn) withdraw(attempt uint64) {
	if attempt == 0 {
		return
	}
	t.pieces = slices.DeleteFunc(t.pieces, func(p *piece) bool { return p.attempt == attempt })
}

// said shows what an attempt has said so far, and above it the line about its
// recovery.
func (t *turn) said(attempt uint64, model, text, recovered string) *piece {
	last := t.pieces[len(t.pieces)-1]
	if last.kind != pieceAnswer || last.attempt != attempt {
		t.hideCut()
		t.tellRecovery(attempt, recovered)
		last = &piece{kind: pieceAnswer, attempt: attempt, model: model, partial: true}
		t.pieces = append(t.pieces, last)
	}
	last.text = text
	return last
}

// left shows what an attempt had said when it broke off, because its text may have come too
// fast, or before the person was there, to be seen live.
func (t *turn) left(attempt uint64, text string) {
	if text != "" && attempt == t.attempt {
		t.said(attempt, t.model, text, "")
	}
}

// hideCut removes a cut answer from the conversation, because the text of the call that
// repeats it has begun.
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

// leaveAgain restores the cut answer if the second one broke off.
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
func (t *turn) tellRecovery(attempt uint64, text string) {
	if text != "" {
		t.pieces = append(t.pieces, &piece{kind: pieceRecovered, attempt: attempt, text: text, tried: slices.Clone(t.tried)})
	}
}

func (t *turn) answered(e recovery.Event, b recovery.Answered) {
	model := cmp.Or(b.Message.Model, t.model)
	t.hideCut()
	if text := b.Message.Text(); text != "" {
		p := t.said(b.Attempt, model, text, e.Text)
		p.partial, p.cut = false, b.Stop == llm.StopLength
	} else {
		t.tellRecovery(b.Attempt, e.Text)
	}
	t.calls = nil
	for _, c := range b.Message.Calls() {
		one := &call{id: c.ID, name: c.Name}
		t.calls = append(t.calls, one)
		t.pieces = append(t.pieces, &piece{kind: pieceTool, call: one})
	}
	t.tried, t.attempt = nil, 0
	t.again, t.cut = false, nil
}

func (t *turn) failed(e recovery.Event, b recovery.Failed) {
	if t.again {
		t.leaveAgain()
		t.note(e.Text)
		return
	}
	if b.Attempt == 0 {
		return
	}
	t.pieces = slices.DeleteFunc(t.pieces, func(p *piece) bool { // the recovery had not succeeded after all
		return p.kind == pieceRecovered && p.attempt == b.Attempt
	})
	t.left(b.Attempt, b.Text)
	one := triedFailure{failure: b.Failure, model: b.Failure.Model}
	if tried := t.view.State.Call.Tried; len(tried) > 0 {
		one.model, one.took = tried[len(tried)-1].Model, tried[len(tried)-1].Millis
	}
	t.tried = append(t.tried, one)
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
	case recovery.TopicProgress: // the status line says it, second by second
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

func (t *turn) accepted(e recovery.Event) {
	t.note(e.Text)
	if s := t.view.State.Suggestion; s != nil {
		t.pieces[len(t.pieces)-1].resets = s.ResetsAt
	}
}

func (t *turn) end() {
	t.leaveAgain()
	for _, c := range t.calls {
		if c.running || c.state == "" {
			c.state, c.running, c.says = callStopped, false, ""
		}
	}
}
