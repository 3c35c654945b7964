package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// target is what numbers press at a moment: the entries of a menu, or the buttons of
// what is being asked.
type target struct {
	menu    *menu
	asks    string
	choices int
}

// digit is the number of a key or text that is one digit from 1 to 9, else 0.
func digit(text string) int {
	if len(text) != 1 || text[0] < '1' || text[0] > '9' {
		return 0
	}
	return int(text[0] - '0')
}

// aim remembers what was on offer when the only thing written became a digit, so that the
// digit cannot press buttons that appear between it and Enter.
func (c *Chat) aim() {
	if digit(c.input.Value()) == 0 {
		c.aimed = target{}
	} else if c.aimed == (target{}) {
		c.aimed = c.target()
	}
}

func (c *Chat) target() target {
	_, s := c.situation()
	return target{c.menu, s.asks, c.choices()}
}

// chosen is the number of the button that Enter presses, if the only thing written is a
// digit that was typed while the button was visible; 0 otherwise. A message may begin with
// a digit, and with a space before it may be one.
func (c *Chat) chosen() int {
	n := digit(c.input.Value())
	if n == 0 || n > c.choices() || c.aimed != c.target() {
		return 0
	}
	return n
}

// choices is how many numbers can be pressed.
func (c *Chat) choices() int {
	if c.menu != nil {
		return min(len(c.menu.models), maxButtons)
	}
	if c.page != nil {
		return 0 // the buttons are not visible
	}
	_, s := c.situation()
	return min(len(s.buttons), maxButtons)
}

// choice is the text of a button, by its number.
func (c *Chat) choice(n int) string {
	if c.menu != nil {
		return line(c.menu.models[n-1])
	}
	_, s := c.situation()
	return c.pen.label(s.buttons[n-1])
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
	if b.URL != "" {
		c.notice = "Open " + line(b.URL)
		return tea.SetClipboard(b.URL)
	}
	switch b.Kind {
	case buttonModels:
		c.menu = &menu{"Continue with", modelsOf(s.models), func(model string) tea.Cmd {
			for _, b := range s.models {
				if b.Model == model {
					return c.choose(t, s, b)
				}
			}
			return nil
		}}
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
		c.notice = c.pen.label(b) + ": this is yours to do."
	}
	return nil
}

func modelsOf(buttons []recovery.Button) []string {
	var names []string
	for _, b := range buttons {
		names = append(names, b.Model)
	}
	return names
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

// copyDetails copies everything known about the failure to the clipboard, and shows
// it.
func (c *Chat) copyDetails(t *turn) tea.Cmd {
	open := t.view.State.Open
	if open == nil {
		return nil
	}
	c.details, c.notice = true, "The details are on the clipboard, if this terminal allows it."
	rows := append([]string{open.Failure.Line()}, facts(open.Failure, len(open.Failure.Detail))...)
	return tea.SetClipboard(strings.Join(rows, "\n"))
}
