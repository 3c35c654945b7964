package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/mulligan-run/mulligan/recovery"
)

// The smallest size to draw for; a smaller terminal shows a part.
const (
	minWidth  = 24
	minHeight = 8
	minAbove  = 5 // lines that the composer leaves to the rest
)

// resize sets the size, look and amount of detail to draw for.
func (c *Chat) resize(columns, rows int) {
	c.width, c.height = max(minWidth, columns), max(minHeight, rows)
	c.pen = newPen(c.width, newLook(c.dark, !c.cfg.NoColor))
	c.input.MaxHeight = min(maxComposer, c.height-minAbove)
	c.input.SetWidth(c.width - 2*margin)
	c.input.SetStyles(c.inputStyles())
}

func (c *Chat) inputStyles() textarea.Styles {
	plain := textarea.StyleState{Base: c.pen.plain, Text: c.pen.plain, CursorLine: c.pen.plain, Placeholder: c.pen.dim, Prompt: c.pen.plain}
	return textarea.Styles{Focused: plain, Blurred: plain, Cursor: textarea.CursorStyle{Shape: tea.CursorBar, Blink: true}}
}

// View implements tea.Model.
func (c *Chat) View() tea.View {
	c.pen.now, c.pen.details = c.cfg.Now(), c.details
	c.pen.md.budget = frameBudget
	foot := c.foot()
	room := c.height - len(foot)
	c.pen.room = max(4, room-2) // two lines of the conversation are always visible
	below := c.belowLines()
	below = below[:min(len(below), room)]
	lines := c.window(room - len(below))
	lines = append(lines, below...)
	for len(lines) < room {
		lines = append(lines, "")
	}
	v := tea.NewView(strings.Join(append(lines, foot...), "\n"))
	v.AltScreen, v.ReportFocus, v.MouseMode = true, true, tea.MouseModeCellMotion
	v.WindowTitle = "mulligan · " + line(c.cfg.Session)
	if cursor := c.input.Cursor(); cursor != nil {
		cursor.X += margin
		cursor.Y += len(lines) + len(foot) - 1 - c.input.Height()
		v.Cursor = cursor
	}
	return v
}

// window is the visible part of the conversation, of at most that many lines.
func (c *Chat) window(room int) []string {
	if c.page != nil {
		return c.pageWindow(room)
	}
	need := room + c.scroll
	var parts [][]string
	have := 0
	for i := len(c.turns) - 1; i >= 0 && have < need; i-- {
		part := c.pen.turn(c.turns[i], i == len(c.turns)-1)
		parts, have = append(parts, part), have+len(part)
	}
	if have < need {
		part := c.welcome()
		parts, have = append(parts, part), have+len(part)
	}
	var lines []string
	for _, part := range slices.Backward(parts) {
		lines = append(lines, part...)
	}
	c.scroll = max(0, min(c.scroll, have-room))
	end := len(lines) - c.scroll
	return lines[max(0, end-room):end]
}

// tail is how many lines a turn and those after it take.
func (c *Chat) tail(from *turn) int {
	if c.scroll == 0 || from == nil {
		return 0
	}
	c.pen.now, c.pen.details = c.cfg.Now(), c.details
	lines := 0
	for i, t := range slices.Backward(c.turns) {
		lines += len(c.pen.turn(t, i == len(c.turns)-1))
		if t == from {
			break
		}
	}
	return lines
}

func (c *Chat) scrollBy(lines int) {
	if c.page != nil {
		c.page.top -= lines
		return
	}
	c.scroll = max(0, c.scroll+lines)
}

// welcome is the beginning of the conversation.
func (c *Chat) welcome() []string {
	about := []string{line("Mulligan · session " + c.cfg.Session)}
	if c.earlier {
		about = append(about, fmt.Sprintf("Only the last %d messages are shown here.", maxHistory))
	}
	var lines []string
	for _, text := range about {
		lines = append(lines, "  "+c.pen.dim.Render(clip(text, c.width-2*margin)))
	}
	return append(append([]string{""}, lines...), "")
}

// belowLines are between the conversation and the composer.
func (c *Chat) belowLines() []string {
	var lines []string
	t, s := c.situation()
	switch {
	case c.menu != nil:
		lines = c.pen.menu(c.menu)
	case c.page != nil:
	case t != nil:
		lines = c.pen.below(t, s)
	}
	if c.queued != "" {
		lines = append(lines, "", c.pen.dim.Render(clip("❯ "+line(c.queued)+" (sent when the run has stopped)", c.width-margin)))
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// menu draws a choice of models.
func (p *pen) menu(m *menu) []string {
	columns := p.inside()
	lines := []string{p.bold.Render(line(m.title))}
	var buttons []recovery.Button
	for _, name := range m.models {
		buttons = append(buttons, recovery.Button{Label: name})
	}
	lines = append(lines, p.buttons(situation{buttons: buttons}, "[Esc] Close", columns)...)
	return p.box(p.accent, lines)
}

// foot is the composer with the lines above and below it.
func (c *Chat) foot() []string {
	var lines []string
	if text, style := c.noticeText(); text != "" {
		lines = append(lines, hang("  ", styled(style, c.fits(wrap(text, c.width-2*margin))))...)
	}
	lines = append(lines, c.pen.dim.Render(strings.Repeat("─", c.width)))
	c.input.Placeholder = "Write a message, or /help"
	if c.choices() > 0 {
		c.input.Placeholder = "A number and Enter, or a message"
	}
	rows := strings.Split(c.input.View(), "\n")
	lines = append(lines, hang(c.pen.accent.Render("❯ "), rows)...)
	return append(lines, c.footer())
}

// fits cuts a notice to the lines that the composer and what is around it leave.
func (c *Chat) fits(notice []string) []string {
	free := c.height - c.input.Height() - 2
	if len(notice) <= free {
		return notice
	}
	notice = notice[:free]
	notice[free-1] = clip(notice[free-1]+"  …", c.width-2*margin)
	return notice
}

// noticeText is the notice to show, if any.
func (c *Chat) noticeText() (string, lipgloss.Style) {
	switch {
	case !c.leaving.IsZero() && c.cfg.Now().Sub(c.leaving) < leaveWithin:
		if t := c.last(); t != nil && t.goesOn() && t.stopping {
			return "Stopping… Press Ctrl-C again to leave.", c.pen.warn
		}
		return "Press Ctrl-C again to leave.", c.pen.warn
	case c.notice != "":
		return c.notice, c.pen.warn
	case c.chosen() > 0:
		return "Enter chooses: " + c.choice(c.chosen()), c.pen.dim
	case c.page != nil:
		return "Esc closes this.", c.pen.dim
	case c.scroll > 0:
		return "↓ more below (PgDn, Ctrl+End)", c.pen.dim
	}
	return "", c.pen.dim
}

// footer says what the next message starts with.
func (c *Chat) footer() string {
	var about []string
	for _, text := range []string{c.modelText(), c.autoText()} {
		if text != "" {
			about = append(about, line(text))
		}
	}
	left, right := strings.Join(about, " · "), "/help"
	if t := c.last(); t != nil && t.goesOn() {
		right = "Esc stops"
	}
	left = clip(left, c.width-2*margin-width(right)-2)
	gap := max(1, c.width-2*margin-width(left)-width(right))
	return c.pen.dim.Render("  " + left + strings.Repeat(" ", gap) + right)
}
