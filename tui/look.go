package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// look is how things are drawn: for a dark or a light background, with or without colour.
// Colour is never the only sign. Every colour has a contrast of at least 5.2:1.
type look struct {
	dark, colour bool

	plain, dim, bold, accent, good, warn, bad, button, primary lipgloss.Style
}

func newLook(dark, colour bool) look {
	of := lipgloss.LightDark(dark)
	ink := func(light, dark string) lipgloss.Style {
		if !colour {
			return lipgloss.NewStyle()
		}
		return lipgloss.NewStyle().Foreground(of(lipgloss.Color(light), lipgloss.Color(dark)))
	}
	l := look{dark: dark, colour: colour, plain: lipgloss.NewStyle(), bold: lipgloss.NewStyle().Bold(true)}
	l.dim = ink("#5c5f66", "#a3a8b0")
	l.accent = ink("#1a4fa0", "#8db8f7")
	l.good = ink("#1d6b3a", "#7fd19a")
	l.warn = ink("#835300", "#e6b455")
	l.bad = ink("#a81c1c", "#ff9a92")
	l.button = l.accent
	l.primary = l.accent.Bold(true).Underline(true)
	return l
}

// width is how many columns text takes.
func width(text string) int { return ansi.StringWidth(text) }

// clean makes foreign text safe to show, keeping its line breaks.
func clean(text string) string {
	return strings.ReplaceAll(terminal.Printable(text, true), "\t", "    ")
}

// line makes foreign text safe to show, on one line.
func line(text string) string { return terminal.OneLine(text) }

// wrap breaks clean text into lines of at most that many columns.
func wrap(text string, columns int) []string {
	columns = max(1, columns)
	rows := strings.Split(ansi.Wrap(text, columns, ""), "\n")
	for i, row := range rows {
		if width(row) > columns { // it finds no place to break "- - -" at
			return append(rows[:i:i], strings.Split(ansi.Hardwrap(strings.Join(rows[i:], "\n"), columns, true), "\n")...)
		}
	}
	return rows
}

// clip cuts a line that is wider than that many columns.
func clip(text string, columns int) string { return ansi.Truncate(text, max(1, columns), "…") }

// hang puts one mark before the first line and indents the others under it.
func hang(mark string, lines []string) []string {
	indent := strings.Repeat(" ", width(mark))
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = indent + text
		if i == 0 {
			out[i] = mark + text
		}
	}
	return out
}

// styled draws every line in a style.
func styled(style lipgloss.Style, lines []string) []string {
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = style.Render(text)
	}
	return out
}
