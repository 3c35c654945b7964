package show

import (
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
)

// Ink colours text, if colour is wanted.
type Ink bool

func (on Ink) in(code, text string) string {
	if !on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is text that is bold.
func (on Ink) Bold(text string) string { return on.in("1", text) }

// Dim is text that is dim.
func (on Ink) Dim(text string) string { return on.in("2", text) }

// Red is text that is red.
func (on Ink) Red(text string) string { return on.in("31", text) }

// Green is text that is green.
func (on Ink) Green(text string) string { return on.in("32", text) }

// Amber is text that is amber.
func (on Ink) Amber(text string) string { return on.in("33", text) }

// Cyan is text that is cyan.
func (on Ink) Cyan(text string) string { return on.in("36", text) }

// Colour follows NO_COLOR, and uses no colour on terminals without it.
func Colour(terminal bool) Ink {
	return Ink(terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// Invoked is how this program was called, so that a hint can be typed as it is.
func Invoked() string {
	if len(os.Args) == 0 || !strings.ContainsRune(os.Args[0], os.PathSeparator) {
		return "mulligan"
	}
	return ShellQuote(os.Args[0])
}

// ShellQuote makes text one word of a shell.
func ShellQuote(text string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+:@%,=", r))
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Plural is "1 retry", "2 retries".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Indent indents text.
func Indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

// Clipped is the beginning of a user's text, short enough for an error.
func Clipped(text string) string { return words.Clip(terminal.OneLine(text), 60) }

// PageWidth is the greatest width of text for people, in columns.
const PageWidth = 80

// complaint is why a plugin gave no answer, in one line of at most so many bytes: its beginning says what
// happened, and its end what the plugin wrote last.
func complaint(text string, most int) string {
	text = strings.Join(strings.Fields(terminal.OneLine(strings.ToValidUTF8(text, "\uFFFD"))), " ")
	if len(text) <= most {
		return text
	}
	const left = " … "
	half := (most - len(left)) / 2
	end := len(text) - half
	for !utf8.RuneStart(text[end]) {
		end++
	}
	return strings.TrimSpace(words.Beginning(text, half)) + left + strings.TrimSpace(text[end:])
}
