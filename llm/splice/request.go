package splice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/llm"
)

// Form is how a model is asked to go on.
type Form string

const (
	// Prefill: the partial text is the beginning of the model's own message, the last one.
	Prefill Form = "prefill"
	// Quote: a user's message after the partial text quotes the end of it, and asks for the rest.
	Quote Form = "quote"
)

// ErrLimit says that what was said uses up the output limit: the answer is cut there for good.
var ErrLimit = errors.New("the output limit leaves nothing to go on with")

// quoted is how many characters of the end of a text are quoted.
const quoted = 100

// Request is the request that asks for the rest of an answer to of, after text. Its output
// limit is what text leaves of the first one. The error is ErrLimit.
//
// White space at the end of text is not sent ahead as a prefill: one provider refuses it, and
// the others' models go on from a whole word better. A text of nothing but white space is
// not sent at all.
func Request(of llm.Request, text string, form Form) (llm.Request, error) {
	left, ok := remaining(of.MaxOutputTokens, text)
	if !ok {
		return llm.Request{}, ErrLimit
	}
	of.MaxOutputTokens, of.Native = left, nil
	if blank(text) {
		return of, nil
	}
	of.Messages = slices.Clip(of.Messages) // of the caller's
	said := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: sent(text, form)}}}
	if form == Prefill {
		of.ReasoningEffort = "" // who is to think first cannot go on at once
		of.Messages = append(of.Messages, said)
		return of, nil
	}
	of.Messages = append(of.Messages, said, llm.User(instruction(text)))
	return of, nil
}

// sent is what of text a model is told as its own.
func sent(text string, form Form) string {
	if form == Prefill {
		return strings.TrimRightFunc(text, unicode.IsSpace)
	}
	return text
}

// instruction asks for what follows text.
func instruction(text string) string {
	end := tail(text)
	spaced := "They do not end in white space: if the next word is a new one, begin with a space or a line break."
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		spaced = "They end in white space: begin with the next word itself."
	}
	return fmt.Sprintf("Your last message was cut off before it was complete. These are its last %d characters:\n\n<end>%s</end>\n\n%s "+
		"Go on from exactly there. Write only what comes next, in the same language and format: repeat nothing of what is there, do not begin anew, and do not say that you go on.",
		utf8.RuneCountInString(end), end, spaced)
}

// tail is the last characters of text.
func tail(text string) string {
	at := len(text)
	for n := 0; n < quoted && at > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return text[at:]
}
