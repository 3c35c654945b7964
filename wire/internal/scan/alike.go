package scan

import (
	"bytes"
	"unicode/utf8"
)

// Alike recognises documents that are the same as an earlier one but for one text, as most of a
// stream's are: what a reader knows of the earlier one holds for them, and they need not be parsed.
// The zero Alike recognises none.
type Alike struct {
	before, after []byte // the text
	known         bool
	learned       int // how often in vain
}

// mostLearned is how many documents in a row may be learned without another one like them.
const mostLearned = 4

// probe is a text that is in no document.
const probe = "\u2060a text of another document\u2060"

// Text is the text in which data differs from the document that was learned; false if data is
// another one, or must be parsed for its text.
func (a *Alike) Text(data []byte) ([]byte, bool) {
	if !a.known || len(data) < len(a.before)+len(a.after) || !bytes.HasPrefix(data, a.before) || !bytes.HasSuffix(data, a.after) {
		return nil, false
	}
	text := data[len(a.before) : len(data)-len(a.after)]
	if !isPlain(text) {
		return nil, false
	}
	a.learned = 0
	return text, true
}

// Learn takes a document with a text in a member of that name, while a recognises none. same parses
// it with another text in that place, and reports whether that is what it reads: if so, it would read
// the text of any document like this one from there.
func (a *Alike) Learn(data []byte, name string, same func(other []byte, text string) bool) {
	if a.learned >= mostLearned {
		return // each document differs from the one before in something else, too
	}
	key := `"` + name + `":"`
	at := bytes.Index(data, []byte(key))
	if at < 0 {
		return
	}
	from := at + len(key)
	size := bytes.IndexByte(data[from:], '"')
	if size < 0 || !isPlain(data[from:from+size]) {
		return
	}
	a.learned++
	a.before, a.after = append(a.before[:0], data[:from]...), append(a.after[:0], data[from+size:]...)
	a.known = same(bytes.Join([][]byte{a.before, a.after}, []byte(probe)), probe)
}

// Forget makes a recognise none, because another document was parsed.
func (a *Alike) Forget() { a.known = false }

// isPlain reports whether a JSON string with these bytes in it has them as its text.
func isPlain(text []byte) bool {
	ascii := true
	for _, b := range text {
		if b < ' ' || b == '"' || b == '\\' {
			return false
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	return ascii || utf8.Valid(text)
}
