package recovery

import (
	"strings"
	"unicode/utf8"
)

// clip makes s valid UTF-8 of at most n bytes, ending in "…" where it was cut.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	cut := n - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
