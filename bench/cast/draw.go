package main

import (
	"fmt"
	"html"
	"strings"
	"time"
)

const (
	columns    = 98
	charWidth  = 8
	lineHeight = 20
	margin     = 20
	hold       = 6 * time.Second // at the end, before it starts again
)

// colours of a line by its prefix; the first match counts.
var colours = []struct{ prefix, class string }{
	{"$", "b"}, {"Mulligan's demo", "b"}, {">", "b"}, {"✗", "bad"}, {"→", "who"}, {"·", "wait"}, {"✓", "good"}, {"  (", "dim"}, {"  ", "dim"},
}

// draw makes an animation of lines: each appears when it was printed; viewers who prefer no motion see
// all of them.
func draw(lines []line) string {
	var rows strings.Builder
	total, y := lines[len(lines)-1].at+hold, margin+14
	for _, l := range lines {
		class := ""
		for _, c := range colours {
			if strings.HasPrefix(l.text, c.prefix) {
				class = c.class
				break
			}
		}
		for _, row := range wrapped(l.text) {
			if row != "" {
				begin := 100 * l.at.Seconds() / total.Seconds()
				fmt.Fprintf(&rows, "<text class=%q x=\"%d\" y=\"%d\"><animate attributeName=\"opacity\" values=\"0;0;1;1\" keyTimes=\"0;%.4f;%.4f;1\" dur=\"%.1fs\" repeatCount=\"indefinite\"/>%s</text>\n",
					class, margin, y, begin/100, min(begin/100+0.001, 1), total.Seconds(), html.EscapeString(row))
			}
			y += lineHeight
		}
	}
	width, height := columns*charWidth+2*margin, y-lineHeight+margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="mulligan demo: a run fails four times, is repeated three times, switches its model and completes">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dae0;white-space:pre}.b{fill:#fff;font-weight:600}.bad{fill:#ff9a92}.who{fill:#8db8f7}.wait{fill:#e6b455}.good{fill:#7fd19a}.dim{fill:#a3a8b0}</style>
<rect width="100%%" height="100%%" rx="10" fill="#16181d"/>
%s</svg>
`, width, height, width, height, rows.String())
}

// wrapped breaks a line that is too wide, between words.
func wrapped(text string) []string {
	var rows []string
	for len([]rune(text)) > columns {
		runes := []rune(text)
		at := strings.LastIndex(string(runes[:columns]), " ")
		if at <= 4 {
			at = len(string(runes[:columns]))
		}
		rows = append(rows, text[:at])
		text = "    " + strings.TrimLeft(text[at:], " ")
	}
	return append(rows, text)
}
