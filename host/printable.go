package host

import (
	"strconv"
	"strings"
)

// printable makes a plugin's text safe to show: it replaces invalid UTF-8, escapes
// control characters and others without a glyph as Go source does, and cuts the text
// to n bytes, with an ellipsis.
func printable(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		piece := string(r)
		if !strconv.IsPrint(r) {
			piece = strings.Trim(strconv.QuoteRune(r), "'")
		}
		if b.Len()+len(piece) > n {
			return cut(b.String(), n)
		}
		b.WriteString(piece)
	}
	return b.String()
}

// cut makes room for an ellipsis within n bytes; s is valid and was longer than that.
func cut(s string, n int) string {
	if room := n - len("…"); len(s) > room {
		s = strings.ToValidUTF8(s[:max(0, room)], "")
	}
	return s + "…"
}
