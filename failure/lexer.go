package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer splits a message into words, which it gives in lower case.
type lexer struct {
	text   string
	at     int // where the next word is looked for
	count  int // of the words that were found
	before [2]string
}

func (l *lexer) rest() string { return l.text[l.at:] }

// last is the last word, or the one before it: the word that is back words away.
func (l *lexer) last(back int) string { return l.before[(l.count+back)&1] }

// addressMark stands between the scheme of an address and its host.
const addressMark = "://"

// sdkPrefix begins the names of a library's errors (AI_APICallError), where it means nothing.
const sdkPrefix = "AI"

// maxWord is the longest word that is read, in bytes; anything longer is data.
const maxWord = 64

// next gives the next word, and whether a clause ends with it; ok is false at the end.
func (l *lexer) next() (word string, ends, ok bool) {
	for {
		rest := l.rest()
		start := letterAt(rest)
		if start == len(rest) {
			return "", false, false
		}
		rest = rest[start:]
		if n := smallLetters(rest); n > 0 && n <= maxWord && n+1 < len(rest) && rest[n] == ' ' && isASCIILetter(rest[n+1]) {
			l.at += start + n + 1 // nearly always
			return rest[:n], false, true
		}
		end := wordEnd(rest)
		raw := rest[:end]
		end += addressLen(rest[end:])
		l.at += start + end
		if len(raw) > maxWord && !isUnparted(raw) || isLabelled(raw, rest[end:]) || l.isListed(l.at-end, rest[end:]) {
			continue
		}
		if smallLetters(raw) < len(raw) {
			raw = plainLetters(unmarked(strings.ToLower(raw)))
		}
		return raw, clauseEnds(rest[end:]), true
	}
}

// isLabelled reports whether word only names what follows it: model in "model=x", AI in AI_APICallError and
// OpenAIException, Bad in BadRequestError, which libraries call whatever was refused.
func isLabelled(word, rest string) bool {
	return strings.HasPrefix(rest, "=") || word == sdkPrefix && rest != "" && (rest[0] == '_' || rest[0] >= 'A' && rest[0] <= 'Z') ||
		(word == "Bad" || word == "Invalid") && strings.HasPrefix(rest, "Request")
}

// isListed reports whether the word at i is the name of a field in a list: model in "(provider: x,
// model: y)".
func (l *lexer) isListed(i int, rest string) bool {
	if !strings.HasPrefix(rest, ": ") {
		return false
	}
	before := strings.TrimRight(l.text[:i], " ")
	return before != "" && strings.IndexByte("([,", before[len(before)-1]) >= 0 && strings.ContainsAny(before, "([")
}

// addressLen is the length of the "://", host and path that text begins with, 0 if it begins with
// none. They say nothing about a failure.
func addressLen(text string) int {
	if !strings.HasPrefix(text, addressMark) {
		return 0
	}
	n := len(addressMark)
	for n < len(text) && text[n] > ' ' && text[n] < utf8.RuneSelf && strings.IndexByte("\"'`<>()[]{}|\\", text[n]) < 0 {
		n++
	}
	return len(strings.TrimRight(text[:n], ".,:;!?"))
}

// clauseEnds reports whether a sentence or a line ends before the first word of text.
func clauseEnds(text string) bool {
	for i, r := range text {
		switch r {
		case '\n', ';', '!', '?', '。', '！', '？', '；', '·', '|', '।':
			return true
		case '.':
			if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' {
				return true
			}
		default:
			if isLetter(r) {
				return false
			}
		}
	}
	return true
}

// unmarked is word without apostrophes, without a French article before it and without an English
// genitive after it: doesn't becomes doesnt, l'entrée entrée, the model's the model.
func unmarked(word string) string {
	if strings.IndexByte(word, '\'') < 0 && !strings.Contains(word, "’") {
		return word
	}
	word = strings.TrimSuffix(strings.ReplaceAll(word, "’", "'"), "'s")
	if len(word) > 2 && strings.IndexByte(word, '\'') == 1 && strings.IndexByte("cdjlmnst", word[0]) >= 0 {
		return word[2:]
	}
	return strings.ReplaceAll(word, "'", "")
}

// isUnparted reports whether word has letters of a language that is written without spaces between
// words (or, like Korean, joins particles to them).
func isUnparted(word string) bool {
	if smallLetters(word) == len(word) {
		return false // nearly always
	}
	return strings.IndexFunc(word, isUnpartedLetter) >= 0
}

// firstUnparted is where the scripts of Chinese, Japanese and Korean begin.
const firstUnparted = 0x2E80

// The script of Thai, and where those of India begin, in which vowels are marks of letters.
const (
	firstThai   = 0x0E00
	lastThai    = 0x0E7F
	firstIndian = 0x0900
)

func isUnpartedLetter(r rune) bool { return r >= firstUnparted || r >= firstThai && r <= lastThai }

// isLetter reports whether r is part of a word.
func isLetter(r rune) bool {
	return unicode.IsLetter(r) || r >= firstIndian && r <= lastThai && unicode.IsMark(r)
}

// letterAt is the index of the first letter of text, or its length if there is none.
func letterAt(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			if n := strings.IndexFunc(text[i:], isLetter); n >= 0 {
				return i + n
			}
			return len(text)
		}
		if isASCIILetter(text[i]) {
			return i
		}
	}
	return len(text)
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// wordEnd is where the first word of text ends: before anything that is not a letter; within an
// identifier, where a capital follows a small letter (statusCode) or begins a word (APIError); and
// where other letters follow Latin ones.
func wordEnd(text string) int {
	var before rune
	start := smallLetters(text)
	if start == len(text) || start > 0 && text[start] < utf8.RuneSelf && text[start] != '\'' && !isASCIILetter(text[start]) {
		return start
	}
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
		case isUnpartedLetter(r) && !isUnpartedLetter(before):
			return i
		}
		before = r
	}
	return len(text)
}

// smallLetters is how many small ASCII letters text begins with.
func smallLetters(text string) int {
	n := 0
	for n < len(text) && text[n] >= 'a' && text[n] <= 'z' {
		n++
	}
	return n
}
