package faultlab

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxEcho = 200 // bytes of what was asked

// echo repeats the last thing that the user said in a request of any wire.
func echo(body []byte) string {
	said := strings.Join(strings.Fields(lastSaid(body)), " ")
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

// turn is a message of any wire.
type turn struct {
	Role    string  `json:"role"`
	Content phrases `json:"content"`
	Parts   phrases `json:"parts"` // Gemini
}

// lastSaid is the text of the user's last message that has any.
func lastSaid(body []byte) string {
	var q struct {
		Messages []turn  `json:"messages"`
		Contents []turn  `json:"contents"` // Gemini
		Input    phrases `json:"input"`    // Responses: a text
		Items    []turn  `json:"-"`        // Responses: a list
	}
	if json.Unmarshal(body, &q) != nil {
		return ""
	}
	if q.Input == "" {
		var r struct {
			Input []turn `json:"input"`
		}
		_ = json.Unmarshal(body, &r)
		q.Items = r.Input
	}
	for _, t := range slices.Backward(slices.Concat(q.Messages, q.Contents, q.Items)) {
		if said := string(t.Content + t.Parts); said != "" && (t.Role == "user" || t.Role == "") {
			return said
		}
	}
	return string(q.Input)
}

// phrases is a text, or the texts of a list of parts; anything else is empty.
type phrases string

func (p *phrases) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*p = phrases(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, part := range parts {
			*p += phrases(part.Text)
		}
	}
	return nil
}
