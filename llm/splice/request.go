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

// Form is how a model is asked to continue.
type Form string

const (
	// Prefill: the last message is the model's own, and begins with the partial text.
	Prefill Form = "prefill"
	// Quote: a user's message after the partial text quotes its end, and asks for the rest.
	Quote Form = "quote"
)

// ErrLimit says that the text so far uses up the output limit, so the answer stays cut.
var ErrLimit = errors.New("the output limit leaves nothing to go on with")

// quoted is how many characters of the end of a text are quoted.
const quoted = 100

// Request asks for the rest of the answer to of, after text. Its output limit is what text leaves
// of the original limit. Its only error is ErrLimit.
//
// White space at the end of text is not part of a prefill: one provider refuses it, and the models
// of the others continue better after a whole word. Text that is only white space is not sent.
func Request(of llm.Request, text string, form Form) (llm.Request, error) {
	left, ok := remaining(of.MaxOutputTokens, text)
	if !ok {
		return llm.Request{}, ErrLimit
	}
	of.MaxOutputTokens, of.Native = left, nil
	if blank(text) {
		return of, nil
	}
	of.Messages = slices.Clip(of.Messages) // do not append to the caller's array
	said := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: sent(text, form)}}}
	if form == Prefill {
		of.ReasoningEffort = "" // a model that has to reason first cannot continue at once
		of.Messages = append(of.Messages, said)
		return of, nil
	}
	of.Messages = append(of.Messages, said, llm.User(instruction(text)))
	return of, nil
}

// sent is the part of text that is given to the model as its own.
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
