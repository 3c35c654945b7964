package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// state is a row of the table of states that every client draws.
type state int

const (
	stateIdle state = iota
	stateThinking
	stateSlow
	stateStreaming
	stateTool
	stateRetryWait
	stateRetrying
	stateSwitching
	stateCompacting
	stateReset
	stateOffline
	stateStore
	stateAway // the gateway does not answer
	stateSuggestion
	stateExpired
	stateFailed
	stateStopped
)

// situation is what to draw below a conversation.
type situation struct {
	state    state
	line     string
	buttons  []recovery.Button // pressed by number
	models   []recovery.Button // behind one of them
	resetsAt time.Time         // what a button may tell in UTC
	asks     string            // to be named when one is posted: the id of the wait, of the call or of the suggestion
}

// From when on something is said to take long.
const (
	thinkingAfter = 3 * time.Second
	slowAfter     = 12 * time.Second
	slowerAfter   = 20 * time.Second
	toolSlowAfter = 30 * time.Second
	longWait      = 10 * time.Minute // a wait of that length is told by its end
)

const (
	stoppedLine = "Stopped. The text above is kept."
	expiredLine = "This suggestion has expired. Send your message again."
	offlineLine = "This computer is offline. The run continues when the connection is back."
	storeLine   = "The run waits for its store. It goes on by itself."

	awayLine       = "The gateway does not answer."
	goneOnLine     = "The run has already moved on."
	supersededLine = "The next message took this suggestion's place."
)

// situation says what to draw for the turn at a time.
func (t *turn) situation(now time.Time) situation {
	r := &t.view.State
	if s := t.view.Suggestion(); s != nil {
		if now.Before(s.ExpiresAt) {
			return situation{state: stateSuggestion, buttons: s.Actions, resetsAt: s.ResetsAt, asks: s.ID}
		}
		return situation{state: stateExpired, line: expiredLine}
	}
	switch {
	case t.lost != "":
		return situation{state: stateFailed}
	case r.Seq == 0:
		return situation{state: stateThinking, line: "Thinking…"}
	case r.End != nil:
		return t.over()
	case t.paused != "" || r.Wait != nil && r.Wait.For == recovery.WaitStore:
		return situation{state: stateStore, line: cmp.Or(t.paused, storeLine)}
	}
	if s, ok := t.waiting(now); ok {
		return s
	}
	return t.working(now)
}

func (t *turn) over() situation {
	switch {
	case t.view.State.Status == recovery.StatusCompleted:
		return situation{}
	case t.ended == closedSuperseded:
		return situation{state: stateExpired, line: supersededLine}
	case t.view.State.Status == recovery.StatusCancelled:
		line := "Stopped."
		if t.partialText() {
			line = stoppedLine
		}
		return situation{state: stateStopped, line: line}
	case t.ended == closedExpired:
		return situation{state: stateExpired, line: expiredLine}
	}
	return situation{state: stateFailed, buttons: []recovery.Button{clientButton(recovery.ButtonCopyDetails)}}
}

func clientButton(kind string) recovery.Button {
	return recovery.Button{ID: kind, Kind: kind, Label: recovery.Label(kind, ""), Effect: recovery.EffectClient}
}

func (t *turn) waiting(now time.Time) (situation, bool) {
	w := t.view.State.Wait
	if w == nil {
		return situation{}, false
	}
	s := situation{asks: w.ID}
	var short, provider string
	if t.recovering != nil {
		f := t.recovering.failure
		short, provider = f.Short(), providerOf(f, w.Model)
	}
	left := w.Until.Sub(now)
	switch {
	case w.For == recovery.WaitNetwork:
		s.state, s.line = stateOffline, offlineLine
	case w.For == recovery.WaitReset || left > longWait:
		s.state, s.buttons = stateReset, only(w.Actions, recovery.ButtonSwitchModel, recovery.ButtonCancelWait)
		s.line = fmt.Sprintf("Waiting for %s until %s. You can leave; the run is kept.", cmp.Or(provider, providerName(w.Model)), words.Clock(w.Until, now))
	case t.recovering == nil || t.recovering.quiet:
		return situation{}, false
	case t.recovering.switchTo != "":
		s.state, s.buttons = stateSwitching, only(w.Actions, recovery.ButtonRetryNow, recovery.ButtonSwitchModel)
		s.line = fmt.Sprintf("%s. Switching to %s in %s…", short, w.Model, spellLeft(left))
	default:
		s.state, s.buttons = stateRetryWait, only(w.Actions, recovery.ButtonRetryNow, recovery.ButtonSwitchModel)
		s.line = fmt.Sprintf("%s. Retrying in %s…%s", short, spellLeft(left), attemptOf(w.Retry, w.Of))
	}
	return s, true
}

func only(buttons []recovery.Button, kinds ...string) []recovery.Button {
	var list []recovery.Button
	for _, kind := range kinds {
		for _, b := range buttons {
			if b.Kind == kind {
				list = append(list, b)
			}
		}
	}
	return list
}

func (t *turn) working(now time.Time) situation {
	r := &t.view.State
	a := r.Attempt
	inAir := a != nil && a.InAir
	switch {
	case t.compacting != "":
		return situation{state: stateCompacting, line: fmt.Sprintf("Shortening the conversation to fit %s…", t.compacting)}
	case !inAir && t.running() != nil:
		return usingTool(t.running(), now)
	case inAir && t.partialText() && t.pieces[len(t.pieces)-1].attempt == a.ID:
		return situation{state: stateStreaming}
	case t.recovering != nil && !t.recovering.quiet && !t.slower(now):
		return t.trying(inAir)
	}
	return t.thinking(now)
}

// trying is a retry or a switch in flight.
func (t *turn) trying(inAir bool) situation {
	short := t.recovering.failure.Short()
	if to := t.recovering.switchTo; to != "" {
		return situation{state: stateSwitching, line: fmt.Sprintf("%s. Switching to %s…", short, to)}
	}
	attempt := ""
	if inAir {
		attempt = attemptOf(t.view.State.Call.Retries, t.view.State.Policy.MaxRetries)
	}
	return situation{state: stateRetrying, line: short + ". Retrying…" + attempt}
}

// running is the tool call that has been going on longest.
func (t *turn) running() *call {
	var oldest *call
	for _, c := range t.calls {
		if c.running && (oldest == nil || c.beganAt.Before(oldest.beganAt)) {
			oldest = c
		}
	}
	return oldest
}

func usingTool(c *call, now time.Time) situation {
	elapsed := now.Sub(c.beganAt)
	if elapsed < toolSlowAfter {
		return situation{state: stateThinking, line: "Thinking…"}
	}
	return situation{state: stateTool, line: fmt.Sprintf("Still working: %s, %s", c.name, spell(elapsed))}
}

// slower reports whether the call in the air has said nothing for so long that a person may
// cut it short, where a limit is set on that.
func (t *turn) slower(now time.Time) bool {
	r := &t.view.State
	id, _ := r.CutShort()
	if id == "" || t.view.Thinking() != "" || now.Sub(r.Attempt.BeganAt) < slowerAfter {
		return false
	}
	limits := r.Policy.TimeoutsOf(r.Attempt.Model)
	return limits.FirstEvent > 0 || limits.Idle > 0
}

func (t *turn) thinking(now time.Time) situation {
	r, a := &t.view.State, t.view.State.Attempt
	since, inAir := r.Last, a != nil && a.InAir
	if inAir {
		since = a.BeganAt
	}
	elapsed := now.Sub(since)
	switch {
	case elapsed < thinkingAfter:
		return situation{state: stateThinking, line: "Thinking…"}
	case elapsed < slowAfter || !inAir || t.view.Thinking() != "":
		return situation{state: stateThinking, line: "Thinking… " + spell(elapsed)}
	}
	s := situation{state: stateSlow, line: fmt.Sprintf("Still waiting for %s… %s", providerName(a.Model), spell(elapsed))}
	left := r.Policy.TimeoutsOf(a.Model).FirstEvent.Duration() - elapsed
	if elapsed >= slowerAfter && left > 0 && r.Policy.AutoRecover && !a.Again && r.Call.Retries < r.Policy.MaxRetries {
		s.line += " · will retry in " + spellLeft(left)
	}
	if t.slower(now) {
		s.asks, s.buttons = r.CutShort()
	}
	return s
}

// attemptOf is " (attempt 2/3)"; nothing where a person asked for more than there are.
func attemptOf(n, of int) string {
	if n < 1 || n > of {
		return ""
	}
	return fmt.Sprintf(" (attempt %d/%d)", n, of)
}

// recoveredText is the line about what was recovered from; model is the one that is used
// now, where it is another one, and cooling the one that was passed over, if nothing was tried.
func recoveredText(retries int, cooling, model string) string {
	line := "Recovered after a model switch"
	switch {
	case retries == 1:
		line = "Recovered after 1 retry"
	case retries > 1:
		line = fmt.Sprintf("Recovered after %d retries", retries)
	case cooling != "":
		line = cooling + " is cooling down"
	}
	if model != "" {
		line += " · now using " + model
	}
	return line
}

// spell writes how long something has lasted, in whole seconds.
func spell(d time.Duration) string {
	if d = d.Truncate(time.Second); d < time.Second {
		return "0 s"
	}
	return words.Spell(d)
}

// spellLeft writes how long something will last, in whole seconds, rounded up.
func spellLeft(d time.Duration) string {
	return spell(max(0, d) + time.Second - 1)
}

// entryOf is the entry of a model's full name: "anthropic" of "anthropic/claude".
func entryOf(model string) string {
	entry, _, _ := strings.Cut(model, "/")
	return entry
}

// providerName is how people call the provider of a model.
func providerName(model string) string {
	return cmp.Or(words.ProviderName(entryOf(model)), "the provider")
}

func providerOf(f failure.Failure, model string) string {
	if f.Provider != "" {
		return words.ProviderName(f.Provider)
	}
	return providerName(cmp.Or(f.Model, model))
}
