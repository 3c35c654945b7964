package mcp

import (
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// printable makes what a server said safe to show in one line of at most n bytes: what
// has no glyph of its own becomes a blank, and blanks in a row become one.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s[:min(len(s), 4*n)])
	return words.Clip(strings.Join(strings.Fields(s), " "), n)
}
