package mcp

import (
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// printable makes a server's text safe to show in one line of at most n bytes: characters without a
// glyph become spaces, and several spaces become one.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s[:min(len(s), 4*n)])
	return words.Clip(strings.Join(strings.Fields(s), " "), n)
}
