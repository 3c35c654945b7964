package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
)

// bare is a message without what programs add in passing it on: the colours of a terminal, the ids
// of requests, when the program itself tries again, the packages of Java's exceptions. Between its
// words is one space; a line that goes on with a small letter is the same sentence, which a narrow
// window broke.
func bare(text string) string {
	return withoutPackages(withoutRetries(withoutIDs(oneSpaced(withoutColours(text)))))
}

// withoutColours is text without a terminal's escape sequences.
func withoutColours(text string) string {
	at := strings.IndexByte(text, escape)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(text, escape) {
		b.WriteString(text[:at])
		text = text[at+1:]
		if strings.HasPrefix(text, "[") {
			end := 1 + prefixLen(text[1:], "0123456789;?")
			if text = text[end:]; text != "" && isASCIILetter(text[0]) {
				text = text[1:]
			}
		}
	}
	b.WriteString(text)
	return b.String()
}

const escape = 0x1b

// oneSpaced is text with one space, or the end of a line, wherever there is white space.
func oneSpaced(text string) string {
	if isOneSpaced(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		n, lines := spaceLen(text[i:])
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		i += n
		next, _ := utf8.DecodeRuneInString(text[i:])
		switch goesOn := unicode.IsLower(next) && b.Len() > 0; {
		case lines > 1, lines == 1 && !goesOn:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func isOneSpaced(text string) bool {
	return strings.IndexByte(text, '\n') < 0 && strings.IndexByte(text, '\t') < 0 && strings.IndexByte(text, '\r') < 0 &&
		!strings.Contains(text, "  ") && !strings.Contains(text, noBreakSpace)
}

const noBreakSpace = "\u00a0"

// spaceLen is how many bytes of white space text begins with, and how many ends of lines are in it.
func spaceLen(text string) (n, lines int) {
	for n < len(text) {
		switch {
		case strings.HasPrefix(text[n:], noBreakSpace):
			n += len(noBreakSpace)
			continue
		case text[n] == '\n':
			lines++
		case text[n] != ' ' && text[n] != '\t' && text[n] != '\r':
			return n, lines
		}
		n++
	}
	return n, lines
}

// without is text without the pieces that cut finds at a mark: where a piece begins and ends, which
// may be one place, and where the next mark is looked for. It is one pass over the text.
func without(text, mark string, cut func(text string, from, at int) (begin, end, next int)) string {
	var b strings.Builder
	done := 0 // what is before it is in b, or left out
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			break
		}
		begin, end, next := cut(text, from, from+i)
		if begin < end {
			b.WriteString(text[done:begin])
			done = end
		}
		from = max(next, end)
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// withoutIDs is text without the ids of requests, which say nothing about requests.
func withoutIDs(text string) string {
	const before, mark = "re", "quest" // few words have a q
	return without(text, mark, func(text string, from, at int) (begin, end, next int) {
		next = at + len(mark)
		n := idLen(text[next:])
		if n == 0 || !endsIn(text[from:at], before) {
			return next, next, next
		}
		return at - len(before), next + n, next
	})
}

// idLen is the length of the rest of the name of an id, "_id: ", and of the id, which has a digit.
func idLen(text string) int {
	n := prefixLen(text, " _-")
	if len(text) < n+2 || !strings.EqualFold(text[n:n+2], "id") {
		return 0
	}
	n += 2
	between := prefixLen(text[n:], ":= #\"'")
	id := wordLen(text[n+between:])
	if between == 0 || id < minID || !strings.ContainsAny(text[n+between:n+between+id], "0123456789") {
		return 0
	}
	return n + between + id
}

// minID is the length of the shortest id, in bytes.
const minID = 6

// withoutRetries is text without when the program that passes it on tries again: "Retrying in 5
// seconds".
func withoutRetries(text string) string {
	const before, mark = "retr", "ying in "
	return without(text, mark, func(text string, from, at int) (begin, end, next int) {
		next = at + len(mark)
		rest := text[next:]
		n := prefixLen(rest, "0123456789.")
		if n == 0 || !endsIn(text[from:at], before) {
			return next, next, next
		}
		n += prefixLen(rest[n:], " ")
		n += prefixLen(rest[n:], "abcdefghijklmnopqrstuvwxyz")
		return at - len(before), next + n, next
	})
}

// withoutPackages is text with java.util.concurrent.ExecutionException as ExecutionException: what
// a package is called after says nothing.
func withoutPackages(text string) string {
	return without(text, "Exception", func(text string, from, at int) (begin, end, next int) {
		begin, next = at, at
		for begin > from && isInName(text[begin-1]) {
			begin--
		}
		for next < len(text) && isInName(text[next]) {
			next++
		}
		root, _, _ := strings.Cut(text[begin:at], ".")
		if !isJavaRoot(root) {
			return begin, begin, next
		}
		return begin, begin + strings.LastIndexByte(text[begin:at], '.') + 1, next
	})
}

// isInName reports whether b may be part of the full name of a class.
func isInName(b byte) bool { return words.IsWord(b) || b == '.' }

// endsIn reports whether text ends in a word in small letters, or in the same with a capital.
func endsIn(text, word string) bool {
	return strings.HasSuffix(text, word[1:]) && len(text) >= len(word) && text[len(text)-len(word)]|0x20 == word[0]
}

// isJavaRoot reports whether packages of Java begin with root.
func isJavaRoot(root string) bool {
	switch root {
	case "java", "javax", "com", "org", "io", "dev", "net", "kotlin", "reactor", "ai":
		return true
	}
	return false
}
