package failure

import (
	"errors"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// anyNumber stands for a word with a digit in it: an amount, a date, an id, a version.
const anyNumber = "#"

// hiddenSecret replaces a secret in what a provider said.
const hiddenSecret = "[redacted]"

// sameWords is text in the form in which rows compare it: in lower case, with single spaces, and
// with # for every word that contains a digit or an @, or that was a secret. Two messages that
// differ only in numbers, ids and addresses are then equal.
func sameWords(text string) string { return strings.ToLower(withoutNumbers(text)) }

// withoutNumbers is sameWords without the change to lower case.
func withoutNumbers(text string) string {
	text = strings.ReplaceAll(words.Tidy(text), hiddenSecret, anyNumber)
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := max(1, tokenEnd(text))
		if token := text[:n]; strings.ContainsAny(token, "0123456789@"+anyNumber) {
			out = appendNumber(out)
		} else {
			out = append(out, token...)
		}
		text = text[n:]
	}
	return string(out)
}

// appendNumber appends a #, unless out ends with one that this number continues: 12,345 and
// 2026/04/01 are one number.
func appendNumber(out []byte) []byte {
	n := len(out)
	if n > 0 && out[n-1] == anyNumber[0] {
		return out
	}
	if n > 1 && out[n-2] == anyNumber[0] && strings.IndexByte(",:/.", out[n-1]) >= 0 {
		return out[:n-1]
	}
	return append(out, anyNumber...)
}

// tokenEnd is the length of the word at the beginning of text; a dot belongs to it if something
// follows it: 9.81, org-Ab12, me@example.com, claude-4.5.
func tokenEnd(text string) int {
	n := 0
	for n < len(text) {
		c := text[n]
		if c == '.' && (n == 0 || n+1 == len(text) || !inToken(text[n+1])) || c != '.' && !inToken(c) {
			break
		}
		n++
	}
	return n
}

func inToken(c byte) bool { return words.IsWord(c) || c == '-' || c == '@' }

// localTextLength is how much of a message is enough to recognise it, in bytes.
const localTextLength = 120

// RowOf makes a row that matches failures like f and gives them that kind: by the provider, by
// status and code if f has them, and by the beginning of the message, without anything private or
// that may differ next time. f.Detail must not contain secrets. The error says what is wrong with
// the kind, or that nothing in f identifies it.
func RowOf(f *Failure, kind Kind) (LocalRow, error) {
	if !f.Correctable() {
		return LocalRow{}, errors.New("it is not what a provider said, but what was seen to happen here")
	}
	row := LocalRow{Kind: kind, Provider: f.ProviderEntry(), Status: f.HTTPStatus, Code: f.ProviderCode}
	if len(row.Code) > maxLocalCode {
		row.Code = ""
	}
	first, _, _ := strings.Cut(f.Detail, "\n") // the following lines may be Mulligan's own
	for _, text := range []string{first, f.Detail} {
		row.Text = beginning(withoutNumbers(text), localTextLength)
		if letters(sameWords(row.Text)) >= leastLocalWords {
			break
		}
		row.Text = ""
	}
	_, _, err := row.compile()
	return row, err
}

// Correctable reports whether f's kind was read from the words of a provider or of the network, so
// that somebody may know better. One of Mulligan's own timers, or a missing key, is not
// correctable.
func (f *Failure) Correctable() bool {
	return f.Origin == OriginModel && f.Timer == "" && slices.Contains(LocalKinds(), f.Kind)
}

// beginning is at most n bytes of text, cut at the end of a word if possible.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = words.Beginning(text, n)
	if i := strings.LastIndexByte(text, ' '); i > len(text)/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " "+anyNumber)
}

// Repeats says in one sentence what is dangerous about classifying failures of one kind as another:
// a request that was refused for good is then sent again. It is "" if there is no danger.
func Repeats(from, to Kind) string {
	if from.Retryable() || !to.Retryable() {
		return ""
	}
	if from == KindContextOverflow {
		return "A request that is too long will be sent again as it is, and fails again, where it would have been shortened."
	}
	return "What failed as " + string(from) + " was not repeated. As " + string(to) + " the same request is sent again, which may cost money, or count against your account."
}
