package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tidy makes text one line of valid UTF-8 without control characters.
func Tidy(text string) string {
	if IsTidy(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// IsTidy reports whether Tidy would leave text as it is.
func IsTidy(text string) bool {
	tidy, before := asciiWords(text), ' '
	if tidy > 0 {
		before = rune(text[tidy-1])
	}
	for i, r := range text[tidy:] {
		switch {
		case r == ' ' && before == ' ', r < ' ', r == 0x7f:
			return false
		case r < utf8.RuneSelf:
		case r == utf8.RuneError && !strings.HasPrefix(text[tidy+i:], "\uFFFD"), unicode.IsControl(r), unicode.IsSpace(r):
			return false
		}
		before = r
	}
	return before != ' '
}

// asciiWords is how much of text is printable ASCII with single spaces: nearly always all of it.
func asciiWords(text string) int {
	before := byte(' ')
	for i := 0; i < len(text); i++ {
		if b := text[i]; b < ' ' || b >= 0x7f || b == ' ' && before == ' ' {
			return i
		}
		before = text[i]
	}
	return len(text)
}

// Sentence gives text a capital at the beginning and a full stop at the end.
func Sentence(text string) string {
	text = Capital(text)
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "!") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	return text
}

// Capital gives text a capital at the beginning.
func Capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// Counted writes a number with its unit: 1 → "1 word", 12000 → "12,000 words", 0 → "".
func Counted(n int64, unit string) string {
	if n <= 0 {
		return ""
	}
	if n == 1 {
		return "1" + strings.TrimSuffix(unit, "s")
	}
	return Count(n) + unit
}

// IsWord reports whether c may be part of an identifier.
func IsWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
