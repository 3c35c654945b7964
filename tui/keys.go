package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// leaveWithin is how soon the second Ctrl-C must follow.
const leaveWithin = 3 * time.Second

// key handles a key.
func (c *Chat) key(msg tea.KeyPressMsg) tea.Cmd {
	pressed := msg.String()
	if pressed != "ctrl+c" {
		c.leaving = time.Time{}
	}
	c.notice = ""
	if n := digit(strings.TrimPrefix(pressed, "alt+")); n > 0 && strings.HasPrefix(pressed, "alt+") {
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
	cmd := c.write(msg)
	c.aim()
	return cmd
}

// leave stops the run in progress; the second time it leaves the chat. A draft is never lost with
// it: where there is one, it is put aside first.
func (c *Chat) leave() tea.Cmd {
	now := c.cfg.Now()
	again := !c.leaving.IsZero() && now.Sub(c.leaving) < leaveWithin
	t := c.last()
	idle := t == nil || !t.goesOn() || t.others // who leaves does not stop what others have begun
	if (idle || again) && c.putAside() {
		return nil
	}
	c.leaving = now
	switch {
	case again && !idle && t.stopping && t.run != "":
		return tea.Sequence(c.cancelRun(t.run), tea.Quit) // a stopped run is not resumed
	case again:
		return tea.Quit
	case idle:
		return nil
	}
	c.takeBack()
	return c.stop(t)
}

// putAside clears the composer, and keeps what was written there for the arrow keys; false if nothing
// was.
func (c *Chat) putAside() bool {
	written := strings.TrimSpace(c.input.Value())
	if written == "" {
		return false
	}
	if c.recall < len(c.said) {
		c.keep(c.draft)
	}
	c.keep(written)
	c.input.Reset()
	c.leaving, c.notice = time.Time{}, "What you wrote is put aside: ↑ brings it back. Ctrl-C twice leaves, and forgets it."
	return true
}

// keep remembers a text for the arrow keys.
func (c *Chat) keep(text string) {
	if n := len(c.said); text != "" && (n == 0 || c.said[n-1] != text) {
		c.said = append(c.said, text)
	}
	c.recall, c.draft = len(c.said), ""
}

// escape closes what is open, or else stops the run.
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

// submit sends what was written.
func (c *Chat) submit() tea.Cmd {
	written := c.input.Value()
	text := strings.TrimSpace(written)
	if text == "" {
		return nil
	}
	chosen := c.chosen()
	c.input.Reset()
	if chosen > 0 {
		return c.press(chosen)
	}
	c.page = nil
	c.keep(text)
	if strings.HasPrefix(written, "/") {
		return c.command(text)
	}
	return c.send(text)
}

// remember shows an earlier or later message of the person's; false if there is none.
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
