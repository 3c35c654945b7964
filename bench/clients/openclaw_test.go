package clients

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// The models of the lab. Each has its own agent, since OpenClaw disables an account that has a
// billing error for the agent that met it.
const (
	clawRecovers   = "recovers"   // 529, and then an answer
	clawHeld       = "held"       // the same, but the advice is to wait longer
	clawHopeless   = "hopeless"   // 529, always; the advice is to give up after the second one
	clawOverloaded = "overloaded" // 529, always
	clawNoCredit   = "no-credit"  // Anthropic's error for an account without credit
	clawFallback   = "fallback"   // the same, for an agent that has a fallback
	clawAlone      = "alone"      // 529, and then an answer, while Mulligan is not running
	clawWell       = "well"       // the one model that may be switched to
	clawChosen     = "chosen"     // OpenClaw's own fallback
)

var clawAgents = []string{clawRecovers, clawHeld, clawHopeless, clawOverloaded, clawNoCredit, clawFallback, clawAlone}

// clawHold is longer than OpenClaw itself waits before it repeats the first request.
const clawHold = 6 * time.Second

const noCredit = `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`

// TestOpenClaw: what today's OpenClaw lets a plugin do works, and what it does not let a plugin do
// is known: the README of sdk/typescript/recovery lists both.
func TestOpenClaw(t *testing.T) {
	c := newClaw(t)
	t.Run("a 529 that passes is asked again, and that it was answered is told", func(t *testing.T) {
		c.answers(t, clawRecovers, "a", "after all")
		c.trail(t, clawRecovers, "overloaded", "completed")
	})
	t.Run("it is held back for as long as is advised", func(t *testing.T) {
		c.answers(t, clawHeld, "a", "after a while")
		if asked := c.asked(clawHeld); len(asked) != 2 || asked[1].Sub(asked[0]) < clawHold {
			t.Errorf("asked at %v", asked)
		}
		c.trail(t, clawHeld, "overloaded", "completed")
	})
	t.Run("what is given up is not asked again", func(t *testing.T) {
		c.fails(t, clawHopeless, "a", "twice is enough")
		if asked := c.asked(clawHopeless); len(asked) != 2 {
			t.Errorf("asked at %v", asked)
		}
		c.trail(t, clawHopeless, "overloaded", "failed")
	})
	t.Run("a 529 that lasts fails when OpenClaw has no more tries", func(t *testing.T) {
		c.fails(t, clawOverloaded, "a", "temporarily overloaded")
		c.trail(t, clawOverloaded, "overloaded", "failed")
	})
	t.Run("no credit: the turn fails, and the next one asks another model", func(t *testing.T) {
		c.fails(t, clawNoCredit, "a", "billing error")
		c.trail(t, clawNoCredit, "billing", "waiting")
		c.answers(t, clawNoCredit, "a", "from the other")
		c.trail(t, clawNoCredit, "billing", "completed")
	})
	t.Run("no credit, in another session: OpenClaw asks nobody", func(t *testing.T) {
		before := len(c.asked(clawNoCredit))
		c.fails(t, clawNoCredit, "b", "billing")
		if asked := c.asked(clawNoCredit); len(asked) != before {
			t.Errorf("asked at %v", asked)
		}
	})
	t.Run("no credit, where there is a fallback: another model within the turn, which Mulligan chooses", func(t *testing.T) {
		c.answers(t, clawFallback, "a", "from the other")
		if asked := c.asked(clawChosen); len(asked) != 0 {
			t.Errorf("OpenClaw's choice was asked at %v", asked)
		}
		c.trail(t, clawFallback, "billing", "completed")
	})
	// When this fails, OpenClaw honours the action, and the README must say so.
	t.Run("the hook that may be answered with an action is ignored", func(t *testing.T) {
		if !strings.Contains(c.said(t), `unknown typed hook "run_error" ignored (plugin=mulligan-recovery`) {
			t.Error("it is not")
		}
	})
	t.Run("without Mulligan it is as OpenClaw is, and that is said once", func(t *testing.T) {
		_ = syscall.Kill(-c.service.Process.Pid, syscall.SIGKILL)
		c.answers(t, clawAlone, "a", "without Mulligan")
		if asked := c.asked(clawAlone); len(asked) != 2 {
			t.Errorf("asked at %v", asked)
		}
		if n := strings.Count(c.said(t), "gives no advice"); n != 1 {
			t.Errorf("it was said %d times", n)
		}
	})
}
