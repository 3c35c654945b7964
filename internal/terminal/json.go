package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// JSON returns a writer of JSON for a terminal: characters that could control the terminal are
// written as \u escapes, which every JSON reader decodes, so nothing is lost. Each write must
// end between two characters, as an encoder's does.
func JSON(w io.Writer) io.Writer { return &escaping{w} }

type escaping struct{ to io.Writer }

func (e *escaping) Write(p []byte) (int, error) {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if r > '\n' && steers(r) { // those before it are escaped in strings, and format outside
			b.Write(p[kept:i])
			fmt.Fprintf(&b, `\u%04x`, r)
			kept = i + size
		}
		i += size
	}
	b.Write(p[kept:])
	if _, err := io.WriteString(e.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
