package splice_test

import (
	"encoding/json"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/splice"
)

func heard(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Parts: parts}
}

func TestRefusal(t *testing.T) {
	text := llm.Part{Text: "It is 14 °C in"}
	thought := llm.Part{Thinking: &llm.Thinking{Text: "hm"}}
	call := llm.Part{Call: &llm.ToolCall{ID: "1", Name: "weather", Args: json.RawMessage("{}")}}
	tools := []llm.Tool{{Name: "weather"}}
	asked := []llm.Message{llm.User("How warm is it?")}
	for name, c := range map[string]struct {
		cut     splice.Cut
		refused bool
	}{
		"plain text":              {splice.Cut{Heard: heard(text)}, false},
		"thought first":           {splice.Cut{Heard: heard(thought, text)}, false},
		"white space":             {splice.Cut{Heard: heard(llm.Part{Text: "\n"})}, false},
		"tools that it may use":   {splice.Cut{Heard: heard(text), Request: llm.Request{Tools: tools}}, false},
		"one choice":              {splice.Cut{Heard: heard(text), Choices: 1}, false},
		"some of the limit left":  {splice.Cut{Heard: heard(text), Request: llm.Request{MaxOutputTokens: 4}}, false},
		"nothing":                 {splice.Cut{}, true},
		"thought only":            {splice.Cut{Heard: heard(thought)}, true},
		"thought after text":      {splice.Cut{Heard: heard(text, thought)}, true},
		"a call":                  {splice.Cut{Heard: heard(text, call)}, true},
		"text after a call":       {splice.Cut{Heard: heard(call, text)}, true},
		"two choices":             {splice.Cut{Heard: heard(text), Choices: 2}, true},
		"a format":                {splice.Cut{Heard: heard(text), Request: llm.Request{Format: &llm.Format{}}}, true},
		"a forced tool":           {splice.Cut{Heard: heard(text), Request: llm.Request{Tools: tools, ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired}}}, true},
		"no tool may be called":   {splice.Cut{Heard: heard(text), Request: llm.Request{Tools: tools, ToolChoice: llm.ToolChoice{Mode: llm.ToolNone}}}, true},
		"filtered":                {splice.Cut{Heard: heard(text), Filtered: true}, true},
		"nothing left":            {splice.Cut{Heard: heard(text), Request: llm.Request{MaxOutputTokens: 3}}, true},
		"a beginning by a caller": {splice.Cut{Heard: heard(text), Request: llm.Request{Messages: append(asked, heard(text))}}, true},
	} {
		if c.cut.Request.Messages == nil {
			c.cut.Request.Messages = asked
		}
		if why := c.cut.Refusal(); (why != "") != c.refused {
			t.Errorf("%s: %q", name, why)
		}
	}
}
