package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes are the bytes that an escape begins with.
const escapes = `\%&`

// maxEntity is the longest HTML character reference, in bytes.
const maxEntity = 10

// maxEscape is the longest escape, in bytes: two UTF-16 units.
const maxEscape = 12

// view is a text, or what it is when its escapes are read; it knows where each byte came from.
type view struct {
	text string
	at   []span // of each byte, its place in the original; nil = the same place
	cut  int    // where an incomplete escape begins in text; its length if there is none
}

func (v view) start(i int) int {
	if v.at == nil {
		return i
	}
	return v.at[i].from
}

func (v view) end(i int) int {
	if v.at == nil {
		return i + 1
	}
	return v.at[i].to
}

// unescape decodes each escape once.
func (v view) unescape() view {
	var b strings.Builder
	b.Grow(len(v.text))
	at := make([]span, 0, len(v.text))
	from := -1
	for i := 0; i < len(v.text); {
		plain, size, cut := read(v.text[i:])
		if i < v.cut && i+maxEscape > v.cut { // what is at the cut may become something else
			_, _, cut = read(v.text[i:v.cut])
		}
		if (cut || i == v.cut) && from < 0 {
			from = b.Len()
		}
		where := span{v.start(i), v.end(i + size - 1)}
		for range len(plain) {
			at = append(at, where)
		}
		b.WriteString(plain)
		i += size
	}
	if from < 0 {
		from = b.Len()
	}
	return view{b.String(), at, from}
}

// unescaped is text with each escape decoded once.
func unescaped(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	in, done := escapesIn(text), 0
	for i := in.from(0); i < len(text); i = in.from(done) {
		plain, size, _ := read(text[i:])
		b.WriteString(text[done:i])
		b.WriteString(plain)
		done = i + size
	}
	b.WriteString(text[done:])
	return b.String()
}

// places finds where escapes begin in a text, from its beginning to its end. It looks for each of
// their bytes by itself, which is faster than for all of them at once.
type places struct {
	text string
	next [len(escapes)]int
}

func escapesIn(text string) places { return places{text: text, next: [len(escapes)]int{-1, -1, -1}} }

// from is the first place from i on; the text's length if there is none.
func (p *places) from(i int) int {
	first := len(p.text)
	for j := range p.next {
		if p.next[j] < i {
			if p.next[j] = strings.IndexByte(p.text[i:], escapes[j]) + i; p.next[j] < i {
				p.next[j] = len(p.text)
			}
		}
		first = min(first, p.next[j])
	}
	return first
}

// read returns what the escape at the beginning of s stands for, its length, and whether
// s ends within it. If there is no escape, it returns the first byte.
func read(s string) (plain string, size int, cut bool) {
	switch s[0] {
	case '\\':
		return backslash(s)
	case '%':
		return hexByte(s, 1)
	case '&':
		return entity(s)
	}
	return s[:1], 1, false
}

func backslash(s string) (plain string, size int, cut bool) {
	switch {
	case len(s) == 1:
		return s, 1, true
	case s[1] == 'u':
		return utf16Unit(s)
	case s[1] == 'x':
		return hexByte(s, 2)
	case s[1] < 0x80 && strings.IndexByte("bfnrt", s[1]) < 0 && !isAlnum(s[1]):
		return s[1:2], 2, false
	}
	return s[:1], 1, false
}

func utf16Unit(s string) (plain string, size int, cut bool) {
	high, cut := hexDigits(s, 2, 4)
	if high < 0 {
		return s[:1], 1, cut
	}
	if !utf16.IsSurrogate(high) {
		return string(high), 6, false
	}
	rest := s[6:]
	switch {
	case rest == "", rest == `\`:
		return string(utf8.RuneError), 6, true
	case !strings.HasPrefix(rest, `\u`):
		return string(utf8.RuneError), 6, false
	}
	low, cut := hexDigits(rest, 2, 4)
	if low < 0 {
		return string(utf8.RuneError), 6, cut
	}
	return string(utf16.DecodeRune(high, low)), 12, false
}

// hexByte reads two digits after a prefix of that many bytes.
func hexByte(s string, prefix int) (plain string, size int, cut bool) {
	value, cut := hexDigits(s, prefix, 2)
	if value < 0 {
		return s[:1], 1, cut
	}
	return string([]byte{byte(value)}), prefix + 2, false
}

// hexDigits is the value of that many digits at a place. It is negative if they are not
// there; cut then says whether that is only because s ends.
func hexDigits(s string, from, count int) (value rune, cut bool) {
	digits := s[from:min(len(s), from+count)]
	if strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return -1, false
	}
	if len(digits) < count {
		return -1, true
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return -1, false
	}
	return rune(n), false
}

func entity(s string) (plain string, size int, cut bool) {
	for i := 1; i < min(len(s), maxEntity); i++ {
		switch {
		case s[i] == ';':
			if plain := html.UnescapeString(s[:i+1]); plain != s[:i+1] {
				return plain, i + 1, false
			}
			return s[:1], 1, false
		case !isAlnum(s[i]) && (s[i] != '#' || i > 1):
			return s[:1], 1, false
		}
	}
	return s[:1], 1, len(s) < maxEntity
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
