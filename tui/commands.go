package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/recovery"
)

// help is what /help shows.
var help = page{rows: []row{
	{"/model [NAME]", "list the models, or choose one for your next messages"},
	{"/auto on|off", "recover automatically, or ask you"},
	{"/retry", "try the last message again"},
	{"/details", "show or hide what went wrong in failed attempts"},
	{"/wrong [KIND]", "correct what kind of failure this is"},
	{"/runs", "list the newest runs"},
	{"/quit", "leave; an unfinished run can be resumed later"},
	{},
	{"Alt+1–9", "press a button; or type its number alone, and Enter"},
	{"Esc, Ctrl-C", "stop the answer"},
	{"Enter", "send; while a run goes on: stop it, then send"},
	{"Shift+Enter", "a new line; also Alt+Enter and Ctrl+J"},
	{"↑ ↓", "what you wrote before"},
	{"PgUp PgDn", "scroll; Ctrl+Home, Ctrl+End: all the way"},
	{"Ctrl-C twice", "leave; what is written is put aside first"},
	{},
	{"", "A space before a slash or a number makes it a message. Shift and the mouse select text."},
}}

// command executes a line that begins with a slash.
func (c *Chat) command(text string) tea.Cmd {
	name, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "/help":
		c.tell(help)
	case "/model":
		return c.commandModel(rest)
	case "/auto":
		c.commandAuto(rest)
	case "/retry":
		return c.commandRetry()
	case "/details":
		c.details = !c.details
		c.resize(c.width, c.height)
	case "/wrong":
		return c.commandWrong(rest)
	case "/runs":
		return c.loadRuns()
	case "/quit", "/exit":
		return tea.Quit
	default:
		c.notice = "There is no command " + line(name) + ". /help lists them; a space before the slash makes it a message."
	}
	return nil
}

func (c *Chat) commandModel(name string) tea.Cmd {
	if name == "" {
		return c.loadModels(askModels)
	}
	if n := digit(name); n > 0 {
		return c.loadModels(n)
	}
	return c.useModel(name)
}

func (c *Chat) commandAuto(rest string) {
	on := rest == "on"
	if !on && rest != "off" {
		c.notice = "Type /auto on or /auto off."
		return
	}
	c.auto = &on
	if on {
		c.notice = "From the next message on, Mulligan recovers automatically."
	} else {
		c.notice = "From the next message on, you are asked when something fails."
	}
}

// commandRetry presses the retry button, or sends the last message again if the run has
// ended.
func (c *Chat) commandRetry() tea.Cmd {
	t, s := c.situation()
	switch {
	case t == nil:
		c.notice = "There is nothing to try again yet."
		return nil
	case s.asks != "":
		for _, kind := range []string{recovery.ButtonRetryNow, recovery.ButtonRetry, recovery.ButtonCompact, recovery.ButtonWaitLonger} {
			if i := slices.IndexFunc(s.buttons, func(b recovery.Button) bool { return b.Kind == kind }); i >= 0 {
				return c.choose(t, s, s.buttons[i])
			}
		}
		c.notice = "Trying again is not offered here: choose one of the buttons."
		return nil
	case t.goesOn():
		c.notice = "The run is still going."
		return nil
	}
	return c.send(t.prompt)
}
