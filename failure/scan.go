package failure

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
)

// skipSpace gives the index of the first byte, from i on, that is not white space.
func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// quoted gives the inside of the string that begins at i, still escaped, and the index after it.
// A string without an end reaches to the end of the text.
func quoted(text string, i int) (string, int) {
	mark := text[i]
	end, closing := i+1, -1
	for end < len(text) {
		if closing < end {
			n := strings.IndexByte(text[end:], mark)
			if n < 0 {
				break
			}
			closing = end + n
		}
		if escape := strings.IndexByte(text[end:closing], '\\'); escape >= 0 {
			end += escape + len(`\n`)
			continue
		}
		if end = closing + 1; mark == '"' || closes(text, end) {
			return text[i+1 : closing], end
		}
	}
	return text[i+1:], len(text)
}

// closes reports whether the single quote before i ends a string: programs that print strings by
// hand do not escape apostrophes in them.
func closes(text string, i int) bool {
	i = skipSpace(text, i)
	return i == len(text) || strings.IndexByte(",:}])", text[i]) >= 0
}

// key reads the name of a member at i, and gives the index of its value. JSON puts the name in
// double quotes, Python in single quotes, JavaScript and Rust in none. Without double quotes it
// counts only where a member may begin, which the byte before shows.
func key(text string, i int, before byte) (name string, value int, ok bool) {
	var end int
	switch {
	case text[i] == '"':
		name, end = quoted(text, i)
	case before != '{' && before != ',':
		return "", i, false
	case text[i] == '\'':
		end = i + 1
		if end < len(text) && text[end] == ':' { // the name of an event stream's field
			end++
		}
		end += wordLen(text[end:])
		if end >= len(text) || text[end] != '\'' {
			return "", i, false
		}
		name, end = text[i+1:end], end+1
	default:
		end = i + wordLen(text[i:])
		name = text[i:end]
	}
	colon := skipSpace(text, end)
	if name == "" || colon >= len(text) || text[colon] != ':' {
		return name, end, false
	}
	return name, skipSpace(text, colon+1), true
}

// wordLen is the length of the identifier at the beginning of text, at most 64 bytes.
func wordLen(text string) int {
	n := 0
	for n < len(text) && n < 64 && (words.IsWord(text[n]) || text[n] == '-' || text[n] == '@') {
		n++
	}
	return n
}

// skipNested gives the index after the object or array that begins at i.
func skipNested(text string, i int) int {
	level := 0
	for i < len(text) {
		switch text[i] {
		case '"', '\'':
			_, i = quoted(text, i)
			continue
		case '{', '[':
			level++
		case '}', ']':
			level--
			if level == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// unquote resolves JSON escapes; an invalid one stands for the character itself.
func unquote(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r', 't', 'b', 'f':
			b.WriteByte(' ')
		case 'u':
			r, used := unicodeEscape(raw[i:])
			b.WriteRune(r)
			i += used - 1
		default:
			b.WriteByte(raw[i])
		}
	}
	return b.String()
}

// unicodeEscape reads uXXXX, or a surrogate pair, and gives its length.
func unicodeEscape(s string) (rune, int) {
	r, ok := hex4(s)
	if !ok {
		return utf8.RuneError, 1
	}
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if len(s) > 6 && s[5] == '\\' {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 11
			}
		}
	}
	return utf8.RuneError, 5
}

func hex4(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:5], 16, 32)
	return rune(n), err == nil
}

// maxBlank is the longest object or array, in bytes, that is checked for being empty.
const maxBlank = 512

// saysNothing reports whether an object or array of an answer holds no text, call or picture: its
// strings are empty, except for those that only name its type.
func saysNothing(span string) bool {
	if len(span) > maxBlank {
		return false
	}
	before := byte(0)
	for i := 0; i < len(span); {
		c := span[i]
		name, next, ok := key(span, i, before)
		switch {
		case ok && next < len(span) && isLabel(name) && (span[next] == '"' || span[next] == '\''):
			_, i = quoted(span, next)
		case ok:
			i = next
		case c == '"', c == '\'':
			inside, end := quoted(span, i)
			if strings.TrimSpace(inside) != "" {
				return false
			}
			i = end
		default:
			i++
		}
		before = c
	}
	return true
}

// isLabel reports whether a member only says what kind of part it belongs to.
func isLabel(name string) bool {
	switch name {
	case "type", "role", "id", "status", "object", "phase":
		return true
	}
	return false
}
