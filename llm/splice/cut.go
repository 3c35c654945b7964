package splice

import (
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// Cut is an answer that was cut, and everything that decides whether another call may continue it.
// For all fields but Request and Heard the zero value is the usual case.
type Cut struct {
	Request llm.Request // as it was first made
	Heard   llm.Message // the answer so far

	Choices  int  // how many answers were asked for at once; 0 or 1 = one
	Filtered bool // a content filter, or a refusal by the model, ended it
}

// text is the text of the answer so far.
func (c Cut) text() string { return c.Heard.Text() }

// Refusal says in a sentence for people why no call may continue the answer; "" if one may.
func (c Cut) Refusal() string {
	switch {
	case c.text() == "":
		return "Nothing had been said that could be gone on with."
	case c.Filtered:
		return "A content filter ended the answer."
	case c.Choices > 1:
		return "Several answers were asked for at once."
	case c.Request.Format != nil:
		return "The answer has to have a format of its own, which two halves may not have."
	case len(c.Request.Tools) > 0 && c.Request.ToolChoice.Mode != llm.ToolAuto:
		return "The model was not free to choose its tools."
	case len(c.Heard.Calls()) > 0:
		return "The answer had begun to call a tool."
	case !c.textWasRunning():
		return "The model had begun to think again."
	case c.begunByCaller():
		return "The caller wrote the beginning of the answer."
	case !c.room():
		return "The answer was as long as it may be."
	}
	return ""
}

// textWasRunning reports whether the last thing heard was text.
func (c Cut) textWasRunning() bool {
	last := c.Heard.Parts[len(c.Heard.Parts)-1]
	return last.Thinking == nil
}

// begunByCaller reports whether the conversation ends with words that the caller wrote as the
// model's own: it is then unknown which of them an answer repeats.
func (c Cut) begunByCaller() bool {
	said := slices.DeleteFunc(slices.Clone(c.Request.Messages), func(m llm.Message) bool { return len(m.Parts) == 0 })
	return len(said) > 0 && said[len(said)-1].Role == llm.RoleAssistant
}

func (c Cut) room() bool {
	_, ok := remaining(c.Request.MaxOutputTokens, c.text())
	return ok
}

// remaining is what the output limit leaves after text, in tokens; 0 if there is no limit. It
// reports false if nothing is left.
func remaining(limit int, text string) (int, bool) {
	if limit <= 0 {
		return 0, true
	}
	left := int64(limit) - llm.Tokens(len(text))
	return int(max(0, left)), left > 0
}

// blank reports whether text is only white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
