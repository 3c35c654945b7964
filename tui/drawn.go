package tui

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// drawn is what was drawn of a growing text. It is drawn piece by piece, with no more at once
// than the budget of its markdown.
type drawn struct {
	by    *markdown
	upto  int      // bytes of the text that are drawn for good
	lines []string // of those
	plain int      // bytes after them that are shown as written: the rest of a hard block
	rest  bool     // everything still to come is, too: its block was too long before it ended
	whole bool     // the text is complete, and drawn
}

// maxPiece is how much is shown as written at a time, in bytes.
const maxPiece = 4 << 10

// draw returns the lines of a text; final says that it will not grow.
func (d *drawn) draw(m *markdown, text string, final bool) []string {
	if d.by != m || d.upto > len(text) {
		*d = drawn{by: m}
	}
	for m.budget > 0 && !d.whole && d.step(text, final) {
	}
	tail := text[d.upto:]
	if d.whole || strings.TrimSpace(tail) == "" {
		return d.lines
	}
	lines := d.lines[:len(d.lines):len(d.lines)]
	if len(tail) > maxBlock { // what is before it is drawn in later frames
		tail = tail[cutBefore(tail, len(tail)-maxBlock):]
	}
	if len(lines) > 0 && d.plain == 0 && !d.rest {
		lines = append(lines, "")
	}
	return append(lines, m.raw(tail)...)
}

// step draws the next piece; false if there is none yet.
func (d *drawn) step(text string, final bool) bool {
	tail := text[d.upto:]
	switch {
	case d.plain > 0:
	case d.rest && final:
		d.plain = len(tail)
	case d.rest && len(tail) > maxPiece:
		d.plain = cmp.Or(strings.LastIndexByte(tail, '\n')+1, cutBefore(tail, maxPiece))
	case d.rest:
		return false
	}
	if d.plain > 0 {
		d.write(tail[:d.plain])
		return true
	}
	n := finished(tail)
	switch {
	case n == 0 && !final && len(tail) <= maxBlock:
		return false
	case n == 0 && !final:
		d.rest = true
		d.gap()
		return true
	case n == 0:
		n = len(tail)
	}
	if strings.TrimSpace(tail[:n]) == "" {
		d.upto, d.whole = d.upto+n, final && n == len(tail)
		return !d.whole && n > 0
	}
	d.gap()
	if d.by.renderer == nil || hard(tail[:n]) {
		d.plain = n
		return true
	}
	d.lines = append(d.lines, d.by.block(tail[:n])...)
	d.by.budget -= n + maxPiece/8
	d.upto += n
	d.whole = final && d.upto == len(text)
	return true
}

// gap separates a block from what is before it.
func (d *drawn) gap() {
	if len(d.lines) > 0 {
		d.lines = append(d.lines, "")
	}
}

// write shows the beginning of a hard block as written.
func (d *drawn) write(text string) {
	n := len(text)
	if n > maxPiece {
		n = cutBefore(text, maxPiece)
		if end := strings.LastIndexByte(text[:n], '\n'); end >= 0 {
			n = end + 1
		}
	}
	piece := text[:n]
	if d.plain -= n; d.plain == 0 && !d.rest {
		piece = strings.TrimRight(piece, "\n")
	}
	d.lines = append(d.lines, wrap(clean(strings.TrimSuffix(piece, "\n")), d.by.width)...)
	d.by.budget -= maxPiece / 4
	d.upto += n
}

// cutBefore is at, or the start of the character that at is in.
func cutBefore(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
