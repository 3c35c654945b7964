package timeline

import "strings"

// usualText is room for a short text, in bytes, so that it need not grow delta by delta.
const usualText = 512

// pieces are what is known of an attempt's text, or of its reasoning, which come in pieces.
type pieces struct {
	offset int // where it begins, in bytes: what is before it is not known here
	text   strings.Builder
}

func (p *pieces) end() int { return p.offset + p.text.Len() }

// grow appends a piece from this process: the first one, or one that follows what is known.
func (p *pieces) grow(offset int, text string) {
	if p.text.Len() == 0 {
		p.offset = offset
		p.text.Grow(usualText)
	}
	if offset == p.end() {
		p.text.WriteString(text)
	}
}

// goOn appends a piece from another process, and gives the part that is new and where that begins:
// "" if nothing is new, or something before it is missing.
func (p *pieces) goOn(offset int, text string) (at int, fresh string) {
	at = p.end()
	if offset > at || offset+len(text) <= at || offset < p.offset {
		return at, ""
	}
	fresh = text[at-offset:]
	p.text.WriteString(fresh)
	return at, fresh
}
