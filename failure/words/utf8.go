package words

import (
	"strings"
	"unicode/utf8"
)

// Clip makes s valid UTF-8 of at most n bytes, ending in "…" where it was cut.
func Clip(s string, n int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if len(s) <= n {
		return s
	}
	return Beginning(s, n-len("…")) + "…"
}

// Beginning is at most the first n bytes of s, which is valid UTF-8, in whole characters.
func Beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
