package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable removes what could control a terminal: control characters, and with them
// escape sequences, and marks that change the direction of text. Line breaks and tabs
// stay if lines is set, and become spaces otherwise.
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

// steers reports whether a character controls a terminal, or changes the direction of
// text.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// OneLine is printable text on one line, with single spaces.
func OneLine(text string) string {
	return strings.Join(strings.Fields(Printable(text, false)), " ")
}
