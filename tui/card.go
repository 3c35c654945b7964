package tui

import (
	"cmp"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// below draws what is below the conversation: the status line of a run in progress, or the
// card of a suggestion or a failure.
func (p *pen) below(t *turn, s situation) []string {
	switch s.state {
	case recovery.StateSuggestion:
		return p.suggestion(t, s)
	case recovery.StateFailed:
		return p.failure(t, s)
	case recovery.StateIdle, recovery.StateStopped, recovery.StateExpired, recovery.StateSuperseded, stateLost:
		return nil
	case recovery.StateThinking, recovery.StateSlow, recovery.StateTool, recovery.StateToolSlow, recovery.StateRetryWait, recovery.StateRetryNow,
		recovery.StateSwitching, recovery.StateCompacting, recovery.StateReset, recovery.StateOnline, recovery.StateStore, recovery.StateCaller, recovery.StateMachine, recovery.StateStopping, stateAway:
	}
	return p.status(s)
}

// marks are the states' symbols, so that colour is not the only sign.
var marks = map[recovery.State]string{
	recovery.StateRetryWait: "↻", recovery.StateRetryNow: "↻", recovery.StateSwitching: "⇄", recovery.StateReset: "◷",
	recovery.StateOnline: "⊘", recovery.StateStore: "⊘", recovery.StateCaller: "◷", recovery.StateMachine: "◷", stateAway: "⊘",
}

// status draws the status line of a run in progress, with its buttons.
func (p *pen) status(s situation) []string {
	mark, style := "●", p.accent
	if own, ok := marks[s.state]; ok {
		mark, style = own, p.warn
	}
	lines := hang(style.Render(mark)+" ", wrap(line(s.line), p.width-2*margin))
	if len(s.buttons) == 0 && !s.stop {
		return lines
	}
	stop := ""
	if s.stop {
		stop = "[Esc] " + recovery.Label(recovery.ButtonStop, "")
	}
	return append(lines, indent(p.buttons(s, stop, p.width-2*margin))...)
}

// buttons draws buttons with the numbers that press them, and one more at the end, as many
// on a line as fit.
func (p *pen) buttons(s situation, last string, columns int) []string {
	var drawn []string
	for i, b := range s.buttons {
		if i == maxButtons {
			break
		}
		text := clip(fmt.Sprintf("[%d] %s", i+1, p.label(b)), columns)
		if b.Primary {
			text = p.primary.Render(text)
		} else {
			text = p.button.Render(text)
		}
		drawn = append(drawn, text)
	}
	if last != "" {
		drawn = append(drawn, p.dim.Render(last))
	}
	var rows []string
	for _, text := range drawn {
		if n := len(rows); n > 0 && width(rows[n-1])+3+width(text) <= columns {
			rows[n-1] += "   " + text
		} else {
			rows = append(rows, text)
		}
	}
	return rows
}

// maxButtons is how many buttons have a number key.
const maxButtons = 9

// label is what is written on a button.
func (p *pen) label(b recovery.Button) string { return line(cmp.Or(b.Label, b.Kind)) }

// suggestion draws the card of an open suggestion.
func (p *pen) suggestion(t *turn, at situation) []string {
	columns, c := p.inside(), at.card
	style, mark := p.warn, "●"
	if c.Grave {
		style, mark = p.bad, "■"
	}
	lines := hang(style.Render(mark)+" ", styled(p.bold, wrap(line(c.Title), columns-2)))
	lines = append(lines, hang("  ", wrap(line(strings.TrimSpace(c.Message+" "+c.Tried)), columns-2))...)
	if c.Call != nil {
		lines = append(lines, hang("  ", p.arguments(c.Call, columns-2))...)
	}
	if said := advice(c); said != "" {
		lines = append(lines, hang("  ", styled(p.dim, wrap(said, columns-2)))...)
	}
	if open := t.view.State.Open; open != nil && p.details {
		lines = append(append(lines, ""), p.factLines(open.Failure, columns)...)
	}
	return p.card(style, lines, at)
}

// maxArguments is how many lines of a tool call a card shows.
const maxArguments = 4

// arguments shows what a tool was called with.
func (p *pen) arguments(call *llm.ToolCall, columns int) []string {
	lines := wrap(line(call.Name+" "+words.Clip(string(call.Args), maxDetail)), columns)
	if len(lines) > maxArguments {
		lines = append(lines[:maxArguments:maxArguments], "…")
	}
	return lines
}

// advice says who suggests the first button and why, and why it was not done.
func advice(c *recovery.Card) string {
	var said []string
	if c.Why != "" {
		said = append(said, line(c.Why))
	}
	if c.Limit != "" {
		said = append(said, "not done automatically: "+line(c.Limit))
	}
	return strings.Join(said, " · ")
}

// failure draws the card of a run that failed with nothing left to offer.
func (p *pen) failure(t *turn, s situation) []string {
	columns := p.inside()
	lines := hang(p.bad.Render("■")+" ", styled(p.bold, wrap(line(s.card.Title), columns-2)))
	open := t.view.State.Open
	if open == nil {
		return p.box(p.bad, lines)
	}
	lines = append(lines, hang("  ", wrap(line(s.card.Message), columns-2))...)
	lines = append(lines, "")
	lines = append(lines, p.factLines(open.Failure, columns)...)
	return p.card(p.bad, lines, s)
}

// maxFacts is how many lines of details a card shows.
const maxFacts = 8

func (p *pen) factLines(f failure.Failure, columns int) []string {
	var lines []string
	for _, fact := range facts(f, maxDetail) {
		lines = append(lines, hang("  ", styled(p.dim, wrap(fact, columns-2)))...)
	}
	if len(lines) > maxFacts {
		lines = append(lines[:maxFacts-1], "  "+p.dim.Render("…"))
	}
	return lines
}

// card draws a frame around the text and the buttons. If there is too little room, the
// end of the text is left out, but never its title.
func (p *pen) card(style lipgloss.Style, told []string, s situation) []string {
	rows := hang("  ", p.buttons(s, "", p.inside()-2))
	if most := max(1, p.room-len(rows)-3); len(told) > most {
		told = told[:most:most]
		if last := most - 1; last > 0 {
			told[last] = "  " + p.dim.Render("…")
		}
	}
	if len(rows) > 0 {
		told = append(append(told, ""), rows...)
	}
	return p.box(style, told)
}

// inside is the number of columns within a box.
func (p *pen) inside() int { return max(10, p.width-2*margin-4) }

// box draws a frame around lines.
func (p *pen) box(style lipgloss.Style, lines []string) []string {
	columns := p.inside()
	edge := strings.Repeat("─", columns+2)
	out := []string{"  " + style.Render("╭"+edge+"╮")}
	for _, text := range lines {
		text = clip(text, columns)
		out = append(out, "  "+style.Render("│")+" "+text+strings.Repeat(" ", columns-width(text))+" "+style.Render("│"))
	}
	return append(out, "  "+style.Render("╰"+edge+"╯"))
}
