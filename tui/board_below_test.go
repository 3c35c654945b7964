package tui

import (
	"fmt"
	"strings"
	"testing"
)

// withBelow is a board of 40 rows with so many below, every second of which has a note.
func withBelow(t *testing.T, n, columns, rows int) *board {
	t.Helper()
	b := shownBoard(t, 40, columns, rows)
	b.shown.Below = BoardBelow{Title: "Providers", Head: []string{"MODEL", "CALLS", "FAILED", ""}, Hint: "mulligan providers"}
	for i := range n {
		row := BelowRow{Cells: []string{fmt.Sprint("anthropic/claude-with-a-long-name-", i), "1214", "73 (6 %)", ""}}
		if i%2 == 0 {
			row.Note, row.Mood = "cools down until 14:25:03, 3 wait for their turn, 61 overloaded, 12 rate_limit, 2 in the air", MoodAsks
		}
		b.shown.Below.Rows = append(b.shown.Below.Rows, row)
	}
	return b
}

// TestBoardBelow: what is below has a third of the screen at the most, says what is left out of it, and
// leaves the runs their room and their keys; on a small screen there is none.
func TestBoardBelow(t *testing.T) {
	for _, c := range []struct {
		n, columns, rows, runs int
		has, hasNot            string
	}{
		{0, 80, 24, 19, "", "Providers"},
		{1, 80, 24, 14, "cools down until 14:25:03", "more:"},
		{2, 80, 24, 13, "name-1", "more:"},
		{3, 80, 24, 11, "name-2", "more:"},
		{4, 80, 24, 11, "Providers  1 more: mulligan providers", "name-3"},
		{9, 80, 24, 11, "Providers  6 more: mulligan providers", "name-3"},
		{9, 200, 60, 38, "name-8", "more:"},
		{2, 20, 12, 5, "", "Providers"},
		{2, 40, 10, 5, "", "Providers"},
	} {
		b := withBelow(t, c.n, c.columns, c.rows)
		lines := b.lines()
		text := strings.Join(lines, "\n")
		if len(lines) > c.rows || strings.Count(text, "completed") != min(40, c.runs) && c.columns > 40 {
			t.Errorf("%+v: %d lines, %d runs\n%s", c, len(lines), strings.Count(text, "completed"), text)
		}
		if !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) || c.columns > 40 && !strings.Contains(text, "q leave") {
			t.Errorf("%+v:\n%s", c, text)
		}
		for _, l := range lines {
			if width(l) > c.columns {
				t.Errorf("%+v: %q", c, l)
			}
		}
		b.types("end")
		if text := strings.Join(b.lines(), "\n"); !strings.Contains(text, "❯ r39 ") {
			t.Errorf("%+v: the last run is out of sight\n%s", c, text)
		}
	}
}
