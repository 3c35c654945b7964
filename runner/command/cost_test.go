package command

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/doubling"
)

// TestOutputOfTwiceTheSize: what a program prints costs as much as it is long, however it
// comes in.
func TestOutputOfTwiceTheSize(t *testing.T) {
	if testing.Short() {
		t.Skip("measures what large inputs cost")
	}
	for name, piece := range map[string]string{
		"lines": "a\n", "words": "a long line without an end ", "escapes": "\x1b[31m", "a title that never ends": "\x1b]",
		"controls": "\x00\x07", "no UTF-8": "\xff\xfe", "runes": "語",
	} {
		for how, size := range map[string]int{"in pieces": 1, "at once": 1 << 20} {
			t.Run(name+" "+how, func(t *testing.T) {
				doubling.Check(t, 20_000, func(n int) func() {
					text := strings.Repeat(piece, n)
					return func() {
						o := newOutput(len(text))
						for rest := text; rest != ""; {
							p := rest[:min(size, len(rest))]
							rest = rest[len(p):]
							_, _ = o.Write([]byte(p))
						}
						_, _ = o.text(len(text)), o.last(maxTail)
					}
				})
			})
		}
	}
}
