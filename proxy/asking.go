package proxy

import (
	"errors"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// A client has no buttons. If its route leaves decisions to persons, the call waits while
// somebody is asked wherever Mulligan shows suggestions; meanwhile its connection is kept alive.

// errMany says that enough calls wait for a person.
var errMany = errors.New("too many calls wait for a person")

// suggested makes the call wait for a person, if it may.
func (c *call) suggested(s recovery.Suggestion) {
	c.mu.Lock()
	c.open = &s
	full := !c.counts && c.proxy.waiting.Add(1) > int64(c.proxy.cfg.AskMost)
	c.counts = true
	c.mu.Unlock()
	if full {
		c.cancel(errMany)
		return
	}
	if c.proxy.cfg.Asks != nil {
		c.proxy.cfg.Asks(c.reply.run, s)
	}
}

// answered ends the wait for a person: another attempt begins.
func (c *call) answered() {
	c.open = nil
	if c.counts {
		c.counts = false
		c.proxy.waiting.Add(-1)
	}
}

// leave ends all waits.
func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	if c.alive != nil {
		c.alive.Stop()
		c.alive = nil
	}
}

// unanswered is the failure for a caller whose wait ended without an answer: it says what a
// person was asked, and where that can be seen.
func (c *call) unanswered(f *failure.Failure, now time.Time) *failure.Failure {
	if f == nil || c.open == nil {
		return f
	}
	why := fmt.Sprintf("Nobody chose what to do within %s.", words.Duration(c.proxy.cfg.AskFor))
	switch {
	case f.Kind == failure.KindInterrupted:
		why = "Too many other calls wait for somebody to choose what to do."
	case f.Timer != failure.TimerMaxTurn && now.Before(c.open.ExpiresAt):
		return f // somebody has answered
	}
	asked := c.open.Error
	asked.Message += " " + why
	if c.proxy.cfg.Answer != nil {
		asked.Message += " See " + c.proxy.cfg.Answer(c.reply.run)
	}
	return &asked
}
