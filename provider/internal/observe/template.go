package observe

import (
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// templateEnds are special tokens with which models' chat templates end an answer. A server that
// does not remove them shows them as text.
var templateEnds = []string{
	"<|im_end|>", "</s>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|return|>", "<end_of_turn>",
	"<|END_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<|eos|>", "<｜end▁of▁sentence｜>", "<|endofresponse|>",
}

// maxEnd is how much text may be held back as a possible end, in bytes.
const maxEnd = 512

// template removes special tokens from the very end of an answer's text. Text that may turn out to
// be such a token is held back until more comes.
type template struct {
	held   string
	before string // the last two bytes that were passed on
	strike bool   // <s> was passed on, so that </s> is markup
}

// push gives the text that may be passed on.
func (t *template) push(piece string) string {
	text, last := t.held+piece, t.before[max(0, len(t.before)-1):]
	t.strike = t.strike || strings.Contains(text, "<s>") || strings.Contains(t.before+text[:min(2, len(text))], "<s>")
	open := len(text)
	for i := max(0, len(text)-maxEnd); i < len(text); i++ {
		if text[i] == '<' && t.mayEnd(text[i:]) {
			open = i
			break
		}
	}
	t.held = text[open:]
	switch open {
	case 0:
	case 1:
		t.before = last + text[:1]
	default:
		t.before = text[open-2 : open]
	}
	return text[:open]
}

// mayEnd reports whether text is only special tokens and white space; the last token may be
// incomplete.
func (t *template) mayEnd(text string) bool {
	rest, _ := t.trim(text)
	return rest == "" || t.any(func(token string) bool { return strings.HasPrefix(token, rest) })
}

// trim removes the tokens at the beginning of text, and the white space after them.
func (t *template) trim(text string) (rest string, count int) {
	for {
		before := text
		t.any(func(token string) bool {
			after, ok := strings.CutPrefix(text, token)
			if ok {
				text, count = strings.TrimLeft(after, " \t\r\n"), count+1
			}
			return ok
		})
		if text == before {
			return text, count
		}
	}
}

func (t *template) any(fits func(token string) bool) bool {
	for _, token := range templateEnds {
		if (token != "</s>" || !t.strike) && fits(token) {
			return true
		}
	}
	return false
}

// flush gives the text held back, because more follows it.
func (t *template) flush() string {
	text := t.held
	t.held = ""
	return text
}

// end gives the text held back at the end of the answer, and how many tokens were removed.
func (t *template) end() (text string, cut int) {
	rest, count := t.trim(t.held)
	if rest != "" || count == 0 {
		return t.flush(), 0
	}
	t.held = ""
	return "", count
}

// told applies the template to the text in deltas.
func (t *template) told(deltas []llm.Delta, out []llm.Delta) []llm.Delta {
	for _, d := range deltas {
		switch {
		case d.Kind == llm.DeltaText:
			if d.Text = t.push(d.Text); d.Text == "" {
				continue
			}
		case d.Kind != llm.DeltaUsage && t.held != "":
			out = append(out, llm.Delta{Kind: llm.DeltaText, Text: t.flush()})
		}
		out = append(out, d)
	}
	return out
}
