package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer reads the words of a message, in lower case.
type lexer struct {
	text   string
	count  int
	before [2]string
}

// maxWord is the longest word that is read, in bytes; what is longer is data.
const maxWord = 64

// next gives the next word, and whether a clause ends with it; false where there is none.
func (l *lexer) next() (word string, ends, ok bool) {
	for {
		start := strings.IndexFunc(l.text, isLetter)
		if start < 0 {
			return "", false, false
		}
		l.text = l.text[start:]
		end := wordEnd(l.text)
		raw := l.text[:end]
		l.text = l.text[end:]
		if len(raw) > maxWord && !isUnparted(raw) {
			continue
		}
		return unmarked(strings.ToLower(raw)), l.clauseEnds(), true
	}
}

// clauseEnds reports whether a sentence or a line ends before the next word.
func (l *lexer) clauseEnds() bool {
	for i, r := range l.text {
		switch {
		case isLetter(r):
			return false
		case strings.ContainsRune("\n;!?。！？；·|", r):
			return true
		case r == '.' && (i+1 == len(l.text) || l.text[i+1] == ' ' || l.text[i+1] == '\n'):
			return true
		}
	}
	return true
}

// unmarked is word without apostrophes, and without a French article before one: doesn't is
// doesnt, l'entrée is entrée.
func unmarked(word string) string {
	if !strings.ContainsAny(word, "'’") {
		return word
	}
	word = strings.ReplaceAll(word, "’", "'")
	if strings.IndexByte(word, '\'') == 1 && strings.IndexByte("cdjlmnst", word[0]) >= 0 {
		return word[2:]
	}
	return strings.ReplaceAll(word, "'", "")
}

// isUnparted reports whether word has letters of a language that does not part its words
// (or, as Korean, joins others to them).
func isUnparted(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r >= firstUnparted }) >= 0
}

// firstUnparted is where the scripts of Chinese, Japanese and Korean begin.
const firstUnparted = 0x2E80

func isLetter(r rune) bool { return unicode.IsLetter(r) }

// wordEnd is where the word that text begins with ends: before what is no letter; within a
// name, where a small letter is followed by a capital one (statusCode) or a capital one that
// begins a word (APIError); and where Latin letters give way to those of another kind.
func wordEnd(text string) int {
	var before rune
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case r == '\'' || r == '’':
			if !isLetter(next) {
				return i
			}
		case !isLetter(r):
			return i
		case before == 0:
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(next)):
			return i
		case r >= firstUnparted && before < firstUnparted:
			return i
		}
		before = r
	}
	return len(text)
}
