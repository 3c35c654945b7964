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

// withoutIDs is text without the ids of requests, which say nothing about requests.
func withoutIDs(text string) string {
	const name = "equest"
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return text
		}
		begin := from + i - 1
		from += i + len(name)
		if n := idLen(text[from:]); n > 0 && begin >= 0 && text[begin]|0x20 == 'r' {
			text, from = text[:begin]+text[from+n:], begin
		}
	}
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
	const lead = "etrying in "
	for from := 0; ; {
		i := strings.Index(text[from:], lead)
		if i < 0 {
			return text
		}
		i += from
		from = i + len(lead)
		rest := text[from:]
		digits := prefixLen(rest, "0123456789.")
		if digits == 0 || i == 0 || text[i-1]|0x20 != 'r' {
			continue
		}
		n := digits + prefixLen(rest[digits:], " ")
		n += prefixLen(rest[n:], "abcdefghijklmnopqrstuvwxyz")
		return text[:i-1] + rest[n:]
	}
}

// withoutPackages is text with java.util.concurrent.ExecutionException as ExecutionException: what
// a package is called after says nothing.
func withoutPackages(text string) string {
	const exception = "Exception"
	for from := 0; ; {
		i := strings.Index(text[from:], exception)
		if i < 0 {
			return text
		}
		i += from
		from = i + len(exception)
		begin, name := i, -1
		for begin > 0 && (words.IsWord(text[begin-1]) || text[begin-1] == '.') {
			if begin--; text[begin] == '.' && name < 0 {
				name = begin + 1
			}
		}
		if root, _, _ := strings.Cut(text[begin:i], "."); name >= 0 && isJavaRoot(root) {
			text, from = text[:begin]+text[name:], from-(name-begin)
		}
	}
}

// isJavaRoot reports whether packages of Java begin with root.
func isJavaRoot(root string) bool {
	switch root {
	case "java", "javax", "com", "org", "io", "dev", "net", "kotlin", "reactor", "ai":
		return true
	}
	return false
}
