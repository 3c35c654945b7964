package show

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Table prints rows on stdout; the first row has the names of the columns. On a terminal a row is
// one line: what is too long is cut, beginning with the last column.
func (s *Screen) Table(rows [][]string) {
	widths, _ := s.widths(rows)
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			cell = ansi.Truncate(cell, widths[i], "…")
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+gap))
			}
		}
		s.Print(b.String())
	}
}

// gap is between two columns.
const gap = 2

// widths are those of a table's columns. On a terminal that is too narrow the last ones are made
// narrower and then, if it is tight, narrower still, but for the very last.
func (s *Screen) widths(rows [][]string) (widths []int, tight bool) {
	widths = make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	if !s.LiveOut {
		return widths, false
	}
	over := gap*(len(widths)-1) - s.width
	for _, w := range widths {
		over += w
	}
	narrow := func(last, least int) {
		for i := last; i > 0 && over > 0; i-- {
			less := min(over, max(0, widths[i]-least))
			widths[i] -= less
			over -= less
		}
	}
	narrow(len(widths)-1, 12)
	tight = over > 0
	narrow(len(widths)-2, 8)
	return widths, tight
}

// Stamp is a time for a table, without the day if it is today.
func Stamp(at time.Time) string {
	at, now := at.Local(), time.Now()
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format("3:04 PM")
	}
	if at.Year() == now.Year() {
		return at.Format("Jan 2 3:04 PM")
	}
	return at.Format("Jan 2 2006 3:04 PM")
}
