package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

func (b *board) mood(m Mood) lipgloss.Style {
	switch m {
	case MoodAsks:
		return b.look.warn
	case MoodBusy:
		return b.look.accent
	case MoodBad:
		return b.look.bad
	case MoodGood:
		return b.look.good
	}
	return b.look.plain
}

// widths are those of all columns but the last, which gets the rest. If that is too little, the
// widest of the others is cut.
func (b *board) widths() []int {
	const gap, least, rest = 2, 6, 16
	n := len(b.shown.Head)
	if n == 0 {
		return nil
	}
	widths := make([]int, n-1)
	used := 0
	for i := range widths {
		widths[i] = width(b.shown.Head[i])
		for _, row := range b.shown.Rows {
			widths[i] = max(widths[i], width(row.Cells[i]))
		}
		used += widths[i] + gap
	}
	for over := used + rest + gap - b.width; over > 0; over-- {
		most := 0
		for i := range widths {
			if widths[i] > widths[most] {
				most = i
			}
		}
		if len(widths) == 0 || widths[most] <= least {
			break
		}
		widths[most]--
	}
	return widths
}

// cells lays out the cells of a row.
func cells(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if i < len(widths) {
			cell = clip(cell, widths[i])
			cell += strings.Repeat(" ", widths[i]-width(cell)+2)
		}
		b.WriteString(cell)
	}
	return strings.TrimRight(b.String(), " ")
}
