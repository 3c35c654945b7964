package openai

import "encoding/json"

// maxLiteral is the longest number or word that may be the arguments of a call, in bytes.
const maxLiteral = 64

// arguments are the arguments of a call so far. If a server repeats the name, it has to be decided
// with every piece whether they are complete. So each byte is scanned once, and the whole text is
// checked only when nothing is open.
type arguments struct {
	text            []byte
	depth           int  // open objects and lists
	quoted, escaped bool // inside a string, and after its backslash
	checked         bool // valid is the result for text, not counting white space
	valid           bool
	broken          bool // they can no longer become valid
}

func (a *arguments) add(piece string) {
	a.text = append(a.text, piece...)
	for i := range len(piece) {
		a.next(piece[i])
	}
}

func (a *arguments) next(b byte) {
	switch {
	case a.escaped:
		a.escaped = false
	case a.quoted:
		a.quoted, a.escaped = b != '"', b == '\\'
	case b == ' ' || b == '\n' || b == '\r' || b == '\t':
	default:
		a.broken = a.broken || a.checked && len(a.text) > maxLiteral // more than one value
		a.checked = false
		switch b {
		case '"':
			a.quoted = true
		case '{', '[':
			a.depth++
		case '}', ']':
			a.depth--
		}
	}
}

// whole reports whether they are one complete JSON value.
func (a *arguments) whole() bool {
	if a.depth != 0 || a.quoted || a.broken {
		return false
	}
	if !a.checked {
		a.checked, a.valid = true, json.Valid(a.text)
	}
	return a.valid
}
