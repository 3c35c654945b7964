package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable takes out what could steer a terminal: control characters, escape sequences
// with them, and marks that turn the direction of text around. Line breaks and tabs stay
// where lines says so, and are spaces otherwise.
func Printable(text string, lines bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			if lines {
				return r
			}
			return ' '
		case r == utf8.RuneError, steers(r):
			return -1
		}
		return r
	}, text)
}

// steers reports whether a terminal obeys a character, or turns what is beside it around.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// OneLine is printable text on one line, with single spaces.
func OneLine(text string) string {
	return strings.Join(strings.Fields(Printable(text, false)), " ")
}
