package tui

import (
	"strconv"
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

// rowCells are the cells of all rows, from a column on.
func (b *board) rowCells(first int) [][]string {
	rows := make([][]string, 0, len(b.shown.Rows))
	for _, row := range b.shown.Rows {
		rows = append(rows, row.Cells[first:])
	}
	return rows
}

// firstColumn is the first that is drawn.
func (b *board) firstColumn() int {
	if !b.shown.HintNames || len(b.shown.Head) < 2 {
		return 0
	}
	if _, over := b.wanted(b.shown.Head, b.rowCells(0)); over > 0 {
		return 1
	}
	return 0
}

// widths are those of all columns but the last, which gets the rest. If that is too little, the
// widest of the others is cut.
func (b *board) widths(head []string, rows [][]string) []int {
	const least = 6
	if len(head) == 0 {
		return nil
	}
	widths, over := b.wanted(head, rows)
	for ; over > 0; over-- {
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

// wanted are the widths of all columns but the last that cut nothing, and by how much they are too wide.
func (b *board) wanted(head []string, rows [][]string) (widths []int, over int) {
	const gap, rest = 2, 16
	widths = make([]int, len(head)-1)
	used := 0
	for i := range widths {
		widths[i] = width(head[i])
		for _, row := range rows {
			widths[i] = max(widths[i], width(row[i]))
		}
		used += widths[i] + gap
	}
	return widths, used + rest + gap - b.width
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

// below draws the smaller table: it has a third of the screen at the most.
func (b *board) below() []string {
	of, most := b.shown.Below, b.height/3
	var all [][]string
	for _, row := range of.Rows {
		all = append(all, row.Cells)
	}
	widths := b.widths(of.Head, all)
	title := of.Title
	lines := []string{b.look.dim.Render(clip("  "+cells(of.Head, widths), b.width))}
	for i, row := range of.Rows {
		drawn := []string{clip("  "+cells(row.Cells, widths), b.width)}
		if row.Note != "" {
			drawn = append(drawn, b.mood(row.Mood).Render(clip("    "+row.Note, b.width)))
		}
		if len(lines)+len(drawn)+2 > most {
			title += "  " + strconv.Itoa(len(of.Rows)-i) + " more: " + of.Hint
			break
		}
		lines = append(lines, drawn...)
	}
	if len(lines) == 1 {
		return nil
	}
	return append([]string{"", b.look.bold.Render(clip(title, b.width))}, lines...)
}
