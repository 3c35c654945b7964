package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	File         string
	Line, Column int // from 1, in characters
	Text         string
	Excerpt      string // the line with a caret below the place
}

// Error is the place, what is wrong there, and the excerpt.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s\n%s", p.File, p.Line, p.Column, p.Text, p.Excerpt)
}

// Problems is everything that is wrong with a file, in order.
type Problems []*Problem

// maxShown is how many problems are shown at once.
const maxShown = 10

// Error is one problem after the other.
func (ps Problems) Error() string {
	var texts []string
	for _, p := range ps[:min(len(ps), maxShown)] {
		texts = append(texts, p.Error())
	}
	if more := len(ps) - maxShown; more > 0 {
		texts = append(texts, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the problems for errors.As.
func (ps Problems) Unwrap() []error {
	var errs []error
	for _, p := range ps {
		errs = append(errs, p)
	}
	return errs
}

// orNil is nil if there is no problem.
func (ps Problems) orNil() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b *Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return ps
}

// How much of a long line an excerpt shows, in characters.
const (
	excerptBefore = 70 // before the place, at most
	excerptAfter  = 40 // after it, at least
)

// excerpt is a line with a caret below one of its columns.
func excerpt(line []rune, number, column int) string {
	at := min(max(column-1, 0), len(line))
	from := max(0, at-excerptBefore)
	to := min(len(line), from+excerptBefore+excerptAfter)
	before, after := plain(line[from:at]), plain(line[at:to])
	if from > 0 {
		before = "…" + before
	}
	if to < len(line) {
		after += "…"
	}
	head := fmt.Sprintf("> %2d | ", number)
	return head + before + after + "\n" + strings.Repeat(" ", len(head)+ansi.StringWidth(before)) + "^"
}

// plain replaces every character whose width is not one column with a space.
func plain(line []rune) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, string(line))
}
