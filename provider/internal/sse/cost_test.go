package sse

import (
	"bytes"
	"strings"
	"testing"
)

// TestLineEndLooksNoFurtherThanItMust: lines that end in one way in a buffer whose next end of
// the other kind is far away. Each costs what it is long, and not the whole buffer.
func TestLineEndLooksNoFurtherThanItMust(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		for _, line := range []string{"", "data: x", strings.Repeat("x", 5000)} {
			rest, looked, lines := []byte(strings.Repeat(line+end, 1000)), 0, 0
			size := len(rest)
			for len(rest) > 0 {
				at, n := lineEnd(rest)
				if at < 0 || !bytes.HasPrefix(rest[at:], []byte(end[:1])) {
					t.Fatalf("line %d ends at %d", lines, at)
				}
				rest = bytes.TrimPrefix(rest[at:], []byte(end))
				looked, lines = looked+n, lines+1
			}
			if lines != 1000 || looked > 4*size+lines*128 {
				t.Errorf("%d lines of %.10q…%q: %d bytes were looked at, of %d", lines, line, end, looked, size)
			}
		}
	}
}
