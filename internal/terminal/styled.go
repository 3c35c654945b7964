package terminal

import (
	"regexp"
	"strings"
)

// style is how this program draws text: bold, dim and three colours, and their end.
var style = regexp.MustCompile(`\x1b\[(?:0|1|2|31|32|33|36)m`)

// Styled is printable text of several lines that keeps the styles which this program draws with.
func Styled(text string) string {
	if !strings.Contains(text, "\x1b") {
		return Printable(text, true)
	}
	var b strings.Builder
	from := 0
	for _, at := range style.FindAllStringIndex(text, -1) {
		b.WriteString(Printable(text[from:at[0]], true))
		b.WriteString(text[at[0]:at[1]])
		from = at[1]
	}
	b.WriteString(Printable(text[from:], true))
	return b.String()
}
