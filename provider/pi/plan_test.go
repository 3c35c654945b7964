package pi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

func said(role, text, stop string) message {
	content, _ := json.Marshal([]part{{Type: "text", Text: text}})
	return message{Role: role, Content: content, StopReason: stop}
}

func answerOf(model, text string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{{Text: text}}}
}

func callOf(model string) []llm.Message {
	return []llm.Message{
		{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{{Call: &llm.ToolCall{ID: "1", Name: "bash", Args: []byte(`{"command":"ls"}`)}}}},
		{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: "1", Name: "bash", Text: "a.txt"}}}},
	}
}

func TestPlan(t *testing.T) {
	hi, more := llm.User("hi"), llm.User("more")
	ours, other := answerOf("pi/fa/m", "Hello."), answerOf("openai/x", "Servus.")
	for name, c := range map[string]struct {
		messages []llm.Message
		known    []message
		want     string   // the prompt; "" = holds is looked for in it
		holds    []string // in this order
		lacks    string
		answer   string
	}{
		"the first message":            {messages: []llm.Message{hi}, want: "hi"},
		"it failed at once":            {messages: []llm.Message{hi}, known: []message{said("user", "hi", ""), said("assistant", "", "error")}, want: goOn},
		"it failed again":              {messages: []llm.Message{hi}, known: []message{said("user", "hi", ""), said("assistant", "", "error"), said("user", goOn, ""), said("assistant", "", "error")}, want: goOn},
		"it failed after a tool":       {messages: append([]llm.Message{hi}, callOf("pi/fa/m")...), known: []message{said("user", "hi", ""), {Role: "assistant", Content: []byte(`[{"type":"toolCall","id":"1"}]`), StopReason: "toolUse"}, said("toolResult", "a.txt", "")}, want: goOn},
		"the next turn":                {messages: []llm.Message{hi, ours, more}, known: []message{said("user", "hi", ""), said("assistant", "Hello.", "stop")}, want: "more"},
		"another after a failure":      {messages: []llm.Message{hi, more}, known: []message{said("user", "hi", ""), said("assistant", "", "error")}, want: "more"},
		"the same once more":           {messages: []llm.Message{hi, ours, hi}, known: []message{said("user", "hi", ""), said("assistant", "Hello.", "stop")}, want: "hi"},
		"an answer that nobody heard":  {messages: []llm.Message{hi}, known: []message{said("user", "hi", ""), said("assistant", "Hello.", "stop")}, answer: "Hello."},
		"length with nothing said":     {messages: []llm.Message{hi}, known: []message{said("user", "hi", ""), said("assistant", "", "length")}, want: goOn},
		"another model before":         {messages: []llm.Message{hi, other, more}, holds: []string{introduction, "User: hi", "Assistant: Servus.", endOfIntroduction + "more"}},
		"another model between":        {messages: []llm.Message{hi, ours, more, other, llm.User("third")}, known: []message{said("user", "hi", ""), said("assistant", "Hello.", "stop")}, holds: []string{"User: more", "Assistant: Servus.", endOfIntroduction + "third"}, lacks: "Hello."},
		"it failed after that":         {messages: []llm.Message{hi, other, more}, known: []message{said("user", introduction+"User: hi"+endOfIntroduction+"more", ""), said("assistant", "", "error")}, want: goOn},
		"another model in the turn":    {messages: append([]llm.Message{hi}, callOf("openai/x")...), holds: []string{"hi", continuation, `Assistant called bash with {"command":"ls"}`, "bash returned: a.txt", goAhead}},
		"another model and back again": {messages: append([]llm.Message{hi}, callOf("openai/x")...), known: []message{said("user", "hi", ""), said("assistant", "", "error")}, holds: []string{"Since then", "bash returned: a.txt", "Go on from there"}, lacks: "hi\n"},
		"Pi has lost its own work":     {messages: append([]llm.Message{hi}, callOf("pi/fa/m")...), holds: []string{"hi", continuation, "bash returned: a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := planFor(c.messages, c.known, "pi")
			if err != nil {
				t.Fatal(err)
			}
			if c.answer != "" {
				if p.answer == nil || p.answer.text() != c.answer {
					t.Errorf("%+v", p)
				}
				return
			}
			if p.answer != nil || c.want != "" && p.text != c.want {
				t.Errorf("%q", p.text)
			}
			rest := p.text
			for _, piece := range c.holds {
				_, after, ok := strings.Cut(rest, piece)
				if !ok {
					t.Fatalf("%q is not in its place in %q", piece, p.text)
				}
				rest = after
			}
			if c.lacks != "" && strings.Contains(p.text, c.lacks) {
				t.Errorf("%q is told again: %q", c.lacks, p.text)
			}
		})
	}
	if _, err := planFor([]llm.Message{ours}, nil, "pi"); err == nil {
		t.Error("a turn without a user")
	}
}

// What is told of others is bounded, pictures are handed on.
func TestTold(t *testing.T) {
	long := []llm.Message{answerOf("x/y", strings.Repeat("a", maxTold)), answerOf("x/y", "the last")}
	if told := tell(long); len(told) > maxTold+100 || !strings.Contains(told, "left out") || !strings.Contains(told, "the last") {
		t.Errorf("%d bytes", len(told))
	}
	p, err := planFor([]llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "look"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("png")}}}}}, nil, "pi")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(p.command())
	if err != nil || string(b) != `{"images":[{"type":"image","data":"cG5n","mimeType":"image/png"}],"message":"look"}` {
		t.Errorf("%s, %v", b, err)
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{"0.73.1\n": "0.73.1", "pi v1.5.2": "1.5.2", "Warning: old node\n0.80.4": "0.80.4"} {
		if v, ok := parseVersion([]byte(text)); !ok || v.String() != want {
			t.Errorf("%q: %v", text, v)
		}
	}
	if _, ok := parseVersion([]byte("no idea")); ok {
		t.Error("a version out of nothing")
	}
	if (version{0, 80, 4}).before(settles) || !(version{0, 80, 3}).before(settles) || (version{1, 0, 0}).before(settles) || !(version{0, 75, 9}).before(honest) {
		t.Error("versions are in another order")
	}
}
