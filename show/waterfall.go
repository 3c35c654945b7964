package show

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// The widths of a waterfall's columns; together they are as wide as a page.
const (
	nameWide  = 18
	barWide   = 24
	howWide   = 25
	tookWide  = 9
	mostLanes = 24 // more spans are too many to see at once; a long run shows its last ones
)

// strokes show how a span ended, so that colour is not the only sign.
var strokes = map[rescue.State]string{
	rescue.StateOpen: "·", rescue.StateOK: "━", rescue.StateFailed: "╳", rescue.StateStopped: "─", rescue.StateUnknown: "?",
}

// waterfall draws how long each step of the run took, under its headline.
func (s *Screen) waterfall(r rescue.Rescue) {
	s.Line(s.Ink.Bold(terminal.OneLine(r.Headline)))
	lanes := r.Spans
	if left := len(lanes) - mostLanes; left > 0 {
		s.Line(s.Ink.Dim(fmt.Sprintf("%s earlier are left out", Plural(left+r.LeftSpans, "stretch", "stretches"))))
		lanes = lanes[left:]
	}
	if len(lanes) == 0 {
		return
	}
	begin, end := lanes[0].From, max(r.Figures.Took.Duration().Milliseconds(), lanes[0].From+1)
	for _, span := range lanes {
		s.Line(strings.TrimRight(s.lane(span, begin, end), " "))
	}
}

func (s *Screen) lane(span rescue.Span, begin, end int64) string {
	to := span.To
	if span.State == rescue.StateOpen {
		to = end
	}
	at := func(ms int64) int { return int(float64(ms-begin) / float64(end-begin) * barWide) }
	from := min(at(span.From), barWide-1)
	wide := max(1, min(at(to), barWide)-from)
	bar := strings.Repeat(" ", from) + s.stroke(span, wide) + strings.Repeat(" ", barWide-from-wide)
	name := span.Label
	if span.Kind == rescue.KindAttempt || span.Kind == rescue.KindSummary {
		name = words.ModelName(name)
	}
	took := ""
	if span.Kind != rescue.KindFailure {
		took = words.Duration(time.Duration(to-span.From) * time.Millisecond)
	}
	how := cmp.Or(span.Detail, string(span.State))
	return column(name, nameWide) + " " + bar + " " + s.Ink.Dim(column(how, howWide)) + fmt.Sprintf("%*s", tookWide, took)
}

// stroke is the bar of a span.
func (s *Screen) stroke(span rescue.Span, wide int) string {
	switch {
	case span.Kind == rescue.KindWait:
		return s.Ink.Amber(strings.Repeat("┄", wide))
	case span.Kind == rescue.KindPerson:
		return s.Ink.Amber(strings.Repeat("░", wide))
	case span.State == rescue.StateFailed:
		return s.Ink.Red(strings.Repeat(strokes[span.State], wide))
	case span.State == rescue.StateOK && span.Kind == rescue.KindTool:
		return s.Ink.Cyan(strings.Repeat("▬", wide))
	case span.State == rescue.StateOK:
		return s.Ink.Green(strings.Repeat(strokes[span.State], wide))
	}
	return s.Ink.Dim(strings.Repeat(cmp.Or(strokes[span.State], "·"), wide))
}

// column pads or cuts text to exactly that many cells of a terminal.
func column(text string, wide int) string {
	text = ansi.Truncate(terminal.OneLine(text), wide, "…")
	return text + strings.Repeat(" ", max(0, wide-ansi.StringWidth(text)))
}
