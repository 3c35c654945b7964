package main

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// printable takes out what could steer a terminal.
func printable(text string, lines bool) string { return terminal.Printable(text, lines) }

// oneLine is printable text on one line.
func oneLine(text string) string { return terminal.OneLine(text) }

// ink colours text by hand where colour is wanted.
type ink bool

func (on ink) in(code, text string) string {
	if !on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (on ink) bold(text string) string  { return on.in("1", text) }
func (on ink) dim(text string) string   { return on.in("2", text) }
func (on ink) red(text string) string   { return on.in("31", text) }
func (on ink) green(text string) string { return on.in("32", text) }
func (on ink) amber(text string) string { return on.in("33", text) }
func (on ink) cyan(text string) string  { return on.in("36", text) }

// wantsColour is NO_COLOR's rule, and that of terminals that cannot.
func wantsColour(terminal bool) ink {
	return ink(terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// invoked is how this program was called, so that a hint can be typed as it is.
func invoked() string {
	if len(os.Args) == 0 || !strings.ContainsRune(os.Args[0], os.PathSeparator) {
		return "mulligan"
	}
	return shellQuote(os.Args[0])
}

// shellQuote makes text one word of a shell.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+:@%,=", r))
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plural is "1 retry", "2 retries".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}
