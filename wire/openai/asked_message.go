package openai

import (
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/openaikind"
)

type askedMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Refusal   string          `json:"refusal"`
	Thought   string          `json:"reasoning_content"` // of servers that imitate this wire
	Calls     []askedCall     `json:"tool_calls"`
	Old       json.RawMessage `json:"function_call"`
	CallID    string          `json:"tool_call_id"`
	AudioSaid json.RawMessage `json:"audio"`
}

type askedCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	} `json:"function"`
	Custom struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

func (r *reading) messages(value []byte) error {
	return body.List("messages", value, func(field string, element []byte) error {
		var m askedMessage
		if err := body.Into(field, element, &m); err != nil {
			return err
		}
		parts, err := r.content(field+".content", m.Content)
		if err != nil {
			return err
		}
		switch m.Role {
		case "system", "developer":
			r.system(field, parts)
			return nil
		case "user":
			body.Say(&r.Request.Messages, llm.RoleUser, parts...)
		case "assistant":
			body.Say(&r.Request.Messages, llm.RoleAssistant, r.assistant(field, &m, parts)...)
		case "tool":
			body.Say(&r.Request.Messages, llm.RoleTool, r.result(m.CallID, parts)...)
		case "function":
			r.Bind("what a tool gave back before there was \"tool_calls\" (" + field + ")")
		default:
			return wire.BadRequest(field+".role", "is %q, which is nobody's", m.Role)
		}
		return nil
	})
}

// system keeps a system text that comes before all other messages; a later one becomes the user's.
func (r *reading) system(field string, parts []llm.Part) {
	if len(r.Request.Messages) == 0 {
		r.first = append(r.first, joined(parts))
		return
	}
	r.Leave("that a message is the system's (" + field + ")")
	body.Say(&r.Request.Messages, llm.RoleUser, parts...)
}

func joined(parts []llm.Part) string { return llm.Message{Parts: parts}.Text() }

// content reads a text, or a list of parts.
func (r *reading) content(field string, value []byte) ([]llm.Part, error) {
	return openaikind.Content(field, value, func(field string, element []byte) (part llm.Part, ok bool, err error) {
		var p struct {
			Type    string    `json:"type"`
			Text    string    `json:"text"`
			Refusal string    `json:"refusal"`
			Image   wireImage `json:"image_url"`
		}
		if err := body.Into(field, element, &p); err != nil {
			return part, false, err
		}
		switch p.Type {
		case "text", "refusal":
			part.Text = p.Text + p.Refusal
			return part, part.Text != "", nil
		case "image_url":
			part, ok = r.PictureAt(field, p.Image.URL)
			return part, ok, nil
		}
		r.Bind(fmt.Sprintf("a part of type %q (%s)", p.Type, field))
		return part, false, nil
	})
}

// assistant is a model's message: reasoning, text, then calls.
func (r *reading) assistant(field string, m *askedMessage, said []llm.Part) (parts []llm.Part) {
	if m.Thought != "" {
		parts = append(parts, llm.Part{Thinking: &llm.Thinking{Text: m.Thought}})
	}
	if parts = append(parts, said...); m.Refusal != "" {
		parts = append(parts, llm.Part{Text: m.Refusal})
	}
	for _, c := range m.Calls {
		call := llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: []byte(c.Function.Args)}
		if c.Type == "custom" {
			call.Name, call.Args = c.Custom.Name, wire.Append(nil, map[string]string{"input": c.Custom.Input})
		}
		parts = append(parts, r.calls.Made(call))
	}
	if !body.Null(m.Old) {
		r.Bind("a call of a tool before there was \"tool_calls\" (" + field + ".function_call)")
	}
	if !body.Null(m.AudioSaid) {
		r.Bind("an answer that was spoken (" + field + ".audio)")
	}
	return parts
}

// result is a tool result, followed by its images.
func (r *reading) result(id string, said []llm.Part) []llm.Part {
	text, failed := wire.Given(joined(said))
	parts := []llm.Part{r.calls.Came(id, text, failed)}
	for _, p := range said {
		if p.Image != nil {
			parts = append(parts, p)
		}
	}
	return parts
}
