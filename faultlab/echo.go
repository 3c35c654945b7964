package faultlab

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/llm"
)

const maxEcho = 200 // bytes of what was asked

// echo repeats the last thing that the user said in a request of any wire.
func echo(messages []llm.Message) string {
	said := strings.Join(strings.Fields(lastSaid(messages)), " ")
	switch {
	case said == "":
		return "All is well here."
	case len(said) > maxEcho:
		said = said[:maxEcho]
		for !utf8.ValidString(said) {
			said = said[:len(said)-1]
		}
		said += "…"
	}
	return "You said: " + said
}

// lastSaid is the text of the user's last message that has any.
func lastSaid(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if text := m.Text(); m.Role == llm.RoleUser && text != "" {
			return text
		}
	}
	return ""
}
