package openai

import "encoding/json"

// maxLiteral is the longest number or word that arguments may be, in bytes.
const maxLiteral = 64

// arguments are those of a call as far as they have come. Whether they are complete is asked
// with every piece where a server repeats the name, so that each byte is looked at once, and
// all of them when nothing is open.
type arguments struct {
	text            []byte
	depth           int  // of objects and lists that are open
	quoted, escaped bool // within a string, after its backslash
	checked         bool // valid is true of text, but for white space
	valid           bool
	broken          bool // whatever follows
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

// whole reports whether they are one JSON value.
func (a *arguments) whole() bool {
	if a.depth != 0 || a.quoted || a.broken {
		return false
	}
	if !a.checked {
		a.checked, a.valid = true, json.Valid(a.text)
	}
	return a.valid
}
