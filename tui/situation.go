package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// States that the chat knows, in addition to the run's own.
const (
	stateAway recovery.State = "away" // the gateway does not answer
	stateLost recovery.State = "lost" // nothing more will be known about the run
)

// situation is what to draw below a conversation: a state of the run, with its times as
// of now.
type situation struct {
	state   recovery.State
	line    string
	stop    bool              // Stop is shown beside the buttons
	buttons []recovery.Button // pressed by number
	models  []recovery.Button // behind one of them
	asks    string            // the id to send with a button: of the wait, of the call or of the suggestion
	card    *recovery.Card
}

const (
	thinkingLine = "Thinking…"
	awayLine     = "The gateway does not answer."
	goneOnLine   = "The run has already moved on."
	expiredLine  = "This suggestion has expired. Send your message again." // an answer came too late
)

// situation says what to draw for the turn at a time.
func (t *turn) situation(now time.Time) situation {
	switch {
	case t.lost != "":
		return situation{state: stateLost}
	case t.view.State.Seq == 0:
		return situation{state: recovery.StateThinking, line: thinkingLine}
	case t.view.Notice != "":
		return situation{state: recovery.StateStore, line: t.view.Notice, stop: true}
	}
	said := t.view.Situation()
	at := said.At(now, t.view.Heard())
	s := situation{state: at.State, line: at.Said(at.Line, now), stop: at.Stop, asks: at.Asks}
	for _, b := range at.Actions {
		b.Label = at.Said(b.Label, now)
		s.buttons = append(s.buttons, b)
	}
	if at.Card != nil {
		card := *at.Card
		card.Message, card.Why = at.Said(card.Message, now), at.Said(card.Why, now)
		s.card = &card
	}
	return s
}

// formatSeconds writes a duration in whole seconds.
func formatSeconds(d time.Duration) string {
	if d = d.Truncate(time.Second); d < time.Second {
		return "0 s"
	}
	return words.Duration(d)
}

// situation is what to draw below the conversation.
func (c *Chat) situation() (*turn, situation) {
	t := c.last()
	if t == nil {
		return nil, situation{}
	}
	s := t.situation(c.cfg.Now())
	if c.cfg.Link.isDown() && (t.goesOn() || s.asks != "") {
		s = situation{state: stateAway, line: awayLine + " Trying again…"}
	}
	if s.asks != "" && s.asks == c.answering {
		s.buttons = nil
	}
	s.buttons, s.models = arranged(s.buttons)
	return t, s
}

// keepTicking triggers frames while a time on the screen changes.
func (c *Chat) keepTicking() tea.Cmd {
	t, every := c.last(), tickEvery
	if c.pen.md.budget <= 0 { // the last frame could not draw everything
		every = drawEvery
	}
	if c.ticking || every == tickEvery && (t == nil || !t.goesOn() && t.view.Suggestion() == nil && c.leaving.IsZero()) {
		return nil
	}
	c.ticking = true
	return tick(every)
}
