package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// leaveWithin is how soon the second Ctrl-C has to come.
const leaveWithin = 3 * time.Second

// key takes a key.
func (c *Chat) key(msg tea.KeyPressMsg) tea.Cmd {
	pressed := msg.String()
	if pressed != "ctrl+c" {
		c.leaving = time.Time{}
	}
	c.notice = ""
	if n, ok := c.number(pressed); ok {
		return c.press(n)
	}
	switch pressed {
	case "ctrl+c":
		return c.leave()
	case "ctrl+d":
		if c.input.Value() == "" {
			return tea.Quit
		}
	case "esc":
		return c.escape()
	case "enter":
		return c.submit()
	case "pgup", "shift+up":
		c.scrollBy(c.stride(pressed))
		return nil
	case "pgdown", "shift+down":
		c.scrollBy(-c.stride(pressed))
		return nil
	case "ctrl+home":
		c.scrollBy(1 << 20)
		return nil
	case "ctrl+end":
		c.scroll = 0
		return nil
	case "up":
		if c.input.Line() == 0 && c.input.LineInfo().RowOffset == 0 && c.remember(-1) {
			return nil
		}
	case "down":
		if c.input.Line() == c.input.LineCount()-1 && c.remember(1) {
			return nil
		}
	}
	return c.write(msg)
}

// number reads the key of a button: a digit where nothing is being written, so that a
// message may have numbers; Alt with a digit always.
func (c *Chat) number(pressed string) (int, bool) {
	digit, alt := strings.CutPrefix(pressed, "alt+")
	if len(digit) != 1 || digit[0] < '1' || digit[0] > '9' {
		return 0, false
	}
	n := int(digit[0] - '0')
	return n, alt || c.input.Value() == "" && n <= c.choices()
}

// choices is how many numbers mean something.
func (c *Chat) choices() int {
	if c.menu != nil {
		return min(len(c.menu.models), maxButtons)
	}
	if c.page != nil {
		return 0 // the buttons are not seen
	}
	_, s := c.situation()
	return min(len(s.buttons), maxButtons)
}

// leave asks once, and leaves when asked again.
func (c *Chat) leave() tea.Cmd {
	now := c.cfg.Now()
	if !c.leaving.IsZero() && now.Sub(c.leaving) < leaveWithin {
		return tea.Quit
	}
	c.leaving = now
	return nil
}

// escape closes what is open, else stops the run.
func (c *Chat) escape() tea.Cmd {
	t := c.last()
	switch {
	case c.menu != nil:
		c.menu = nil
	case c.page != nil:
		c.page = nil
	case c.queued != "":
		c.takeBack()
	case t != nil && t.goesOn():
		return c.stop(t)
	}
	return nil
}

// press presses a button by its number.
func (c *Chat) press(n int) tea.Cmd {
	if n > c.choices() {
		return nil
	}
	if m := c.menu; m != nil {
		c.menu = nil
		return m.choose(m.models[n-1])
	}
	t, s := c.situation()
	return c.choose(t, s, s.buttons[n-1])
}

// choose does what a button says.
func (c *Chat) choose(t *turn, s situation, b recovery.Button) tea.Cmd {
	if b.Effect != recovery.EffectClient {
		return c.answer(t.run, client.Answer{Suggestion: s.asks, Action: b.ID})
	}
	switch b.Kind {
	case recovery.ButtonEdit:
		c.compose(t.prompt)
	case recovery.ButtonFixKey:
		c.notice = "Put the new key where the gateway reads it, then choose Retry. Keys are read again for every attempt."
	case recovery.ButtonAddCredit:
		c.notice = "Add credit in your account at the provider, then choose Retry."
	case recovery.ButtonChooseModel:
		c.chooseModel(t, s)
	case recovery.ButtonCopyDetails:
		return c.copyDetails(t)
	default:
		c.notice = label(b, nil) + ": to be done by you."
	}
	return nil
}

// chooseModel offers the models that the run may use.
func (c *Chat) chooseModel(t *turn, s situation) {
	var others []string
	for _, m := range t.view.State.Policy.Models {
		if m != t.view.State.Model {
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		c.notice = "This run may use no other model. /model chooses one for your next message."
		return
	}
	c.menu = &menu{"Continue with", others, func(model string) tea.Cmd {
		return c.answer(t.run, client.Answer{Suggestion: s.asks, Action: recovery.ButtonSwitchModel, Model: model})
	}}
}

// copyDetails puts all that is known of the failure on the clipboard, and shows it.
func (c *Chat) copyDetails(t *turn) tea.Cmd {
	open := t.view.State.Open
	if open == nil {
		return nil
	}
	c.details, c.notice = true, "The details are on the clipboard, if this terminal allows it."
	rows := append([]string{open.Failure.Line()}, facts(open.Failure, len(open.Failure.Detail))...)
	return tea.SetClipboard(strings.Join(rows, "\n"))
}

// submit sends what is written.
func (c *Chat) submit() tea.Cmd {
	written := c.input.Value()
	text := strings.TrimSpace(written)
	if text == "" {
		return nil
	}
	c.input.Reset()
	c.page = nil
	if n := len(c.said); n == 0 || c.said[n-1] != text {
		c.said = append(c.said, text)
	}
	c.recall = len(c.said)
	if strings.HasPrefix(written, "/") {
		return c.command(text)
	}
	return c.send(text)
}

// remember shows what was written before, or after that; false where there is nothing.
func (c *Chat) remember(by int) bool {
	to := c.recall + by
	if to < 0 || to > len(c.said) {
		return false
	}
	if c.recall == len(c.said) {
		c.draft = c.input.Value()
	}
	c.recall = to
	if to == len(c.said) {
		c.compose(c.draft)
	} else {
		c.compose(c.said[to])
	}
	return true
}

// stride is how far a key scrolls, in lines.
func (c *Chat) stride(pressed string) int {
	if strings.HasPrefix(pressed, "shift+") {
		return 1
	}
	return max(1, c.height/2)
}

func (c *Chat) wheel(msg tea.MouseWheelMsg) {
	const notch = 3
	switch msg.Button {
	case tea.MouseWheelUp:
		c.scrollBy(notch)
	case tea.MouseWheelDown:
		c.scrollBy(-notch)
	}
}
