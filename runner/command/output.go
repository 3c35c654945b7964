package command

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// output keeps the beginning and the end of what is written to it.
type output struct {
	half  int    // bytes of each that are kept
	head  []byte // full before tail gets anything
	tail  []byte // up to twice half, of which the last half counts
	total int64
}

// newOutput makes an output that keeps most bytes.
func newOutput(most int) *output { return &output{half: (most + 1) / 2} }

func (o *output) Write(p []byte) (int, error) {
	written := len(p)
	o.total += int64(written)
	n := min(len(p), o.half-len(o.head))
	o.head = append(o.head, p[:n]...)
	o.tail = append(o.tail, p[n:]...)
	if len(o.tail) > 2*o.half {
		o.tail = slices.Delete(o.tail, 0, len(o.tail)-o.half)
	}
	return written, nil
}

// kept gives the beginning and the end, which follows directly unless something was
// left out between them.
func (o *output) kept() (head, tail []byte, all bool) {
	head, tail = o.head, o.tail[max(0, len(o.tail)-o.half):]
	if int64(len(head)+len(tail)) == o.total {
		return slices.Concat(head, tail), nil, true
	}
	return withoutPart(head), fromRune(tail), false
}

// text is what a model may read, at most most bytes: beginning and end, and a line
// between them that says what is missing.
func (o *output) text(most int) string {
	head, tail, all := o.kept()
	beginning, end := clean(head), clean(tail)
	if all {
		if len(beginning) <= most {
			return beginning
		}
		end = beginning
	}
	gap := fmt.Sprintf("\n[… the middle is left out here: the output had %d bytes …]\n", o.total)
	room := max(0, most-len(gap)) / 2
	return first(beginning, room) + gap + last(end, room)
}

// last is the end of it as a model may read it, at most most bytes.
func (o *output) last(most int) string {
	head, tail, all := o.kept()
	if all {
		return last(clean(head), most)
	}
	return last(clean(tail), most)
}

// first gives the first bytes of a valid text, at most n, in whole runes.
func first(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// last gives the last bytes of a valid text, at most n, in whole runes.
func last(s string, n int) string {
	from := max(0, len(s)-n)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// withoutPart removes a rune from the end of a cut text that was cut itself.
func withoutPart(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// fromRune removes the rest of a cut rune from the beginning of a text.
func fromRune(b []byte) []byte {
	for i := range min(len(b), utf8.UTFMax) {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
