package command

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
)

// output keeps the beginning and the end of what is written to it.
type output struct {
	half  int    // bytes kept of each
	head  []byte // filled before tail gets anything
	tail  []byte // up to twice half; only its last half counts
	total int64
}

// newOutput makes an output that keeps at most most bytes.
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

// kept gives the beginning and the end; all says that nothing between them was left out.
func (o *output) kept() (head, tail []byte, all bool) {
	head, tail = o.head, o.tail[max(0, len(o.tail)-o.half):]
	if int64(len(head)+len(tail)) == o.total {
		return slices.Concat(head, tail), nil, true
	}
	return withoutPart(head), fromRune(tail), false
}

// text is at most most bytes, for a model: the beginning, a line that says what is missing, and the
// end.
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
	return words.Beginning(beginning, room) + gap + last(end, room)
}

// last is at most most bytes of the end, for a model.
func (o *output) last(most int) string {
	head, tail, all := o.kept()
	if all {
		return last(clean(head), most)
	}
	return last(clean(tail), most)
}

// last gives at most n bytes of the end of a valid text, in whole runes.
func last(s string, n int) string {
	from := max(0, len(s)-n)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// withoutPart removes an incomplete rune from the end of a text.
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

// fromRune removes an incomplete rune from the beginning of a text.
func fromRune(b []byte) []byte {
	for i := range min(len(b), utf8.UTFMax) {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
