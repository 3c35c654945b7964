package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// billing begins a block of Claude Code's system text that is meant for the provider, not for the
// model.
const billing = "x-anthropic-billing-header:"

func (r *reading) system(value []byte) error {
	if body.IsText(value) {
		r.Request.System = scan.Text(value)
		return nil
	}
	var texts []string
	err := body.List("system", value, func(field string, element []byte) error {
		var block struct{ Type, Text string }
		if err := body.Into(field, element, &block); err != nil {
			return err
		}
		switch {
		case block.Type != "text":
			r.Bind(fmt.Sprintf("a block of type %q (%s)", block.Type, field))
		case !strings.HasPrefix(block.Text, billing):
			texts = append(texts, block.Text)
		}
		return nil
	})
	r.Request.System = strings.Join(texts, "\n\n")
	return err
}

func (r *reading) messages(value []byte) error {
	return body.List("messages", value, func(field string, element []byte) error {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := body.Into(field, element, &m); err != nil {
			return err
		}
		switch m.Role {
		case "user", "assistant":
		case "system":
			r.Leave("that a message is the system's (" + field + ")")
			m.Role = "user"
		default:
			return wire.BadRequest(field+".role", "is %q, and neither user nor assistant", m.Role)
		}
		return r.message(field+".content", llm.Role(m.Role), m.Content)
	})
}

// message reads one message. Tool results, which this wire puts into a user's message, become a
// separate message before it.
func (r *reading) message(field string, role llm.Role, content []byte) error {
	if body.IsText(content) {
		if text := scan.Text(content); text != "" {
			body.Say(&r.Request.Messages, role, llm.Part{Text: text})
		}
		return nil
	}
	var results, said []llm.Part
	err := body.List(field, content, func(field string, element []byte) error {
		var b askedBlock
		if err := body.Into(field, element, &b); err != nil {
			return err
		}
		if b.Type == "tool_result" {
			parts, err := r.result(field, &b)
			results = append(results, parts...)
			return err
		}
		if part, ok := r.block(field, &b); ok {
			said = append(said, part)
		}
		return nil
	})
	body.Say(&r.Request.Messages, llm.RoleTool, results...)
	body.Say(&r.Request.Messages, role, said...)
	return err
}

// askedBlock holds what is read of a block of any type.
type askedBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Source    askedSource     `json:"source"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

type askedSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// block reads a block that is not a tool result; ok is false if it is not for the model.
func (r *reading) block(field string, b *askedBlock) (part llm.Part, ok bool) {
	switch b.Type {
	case "text":
		return llm.Part{Text: b.Text}, b.Text != ""
	case "image", "document":
		return r.source(field, b)
	case "thinking":
		return llm.Part{Thinking: &llm.Thinking{Text: b.Thinking, Signature: b.Signature}}, true
	case "redacted_thinking":
		return llm.Part{Thinking: &llm.Thinking{Redacted: b.Data}}, b.Data != ""
	case "tool_use":
		return r.calls.Made(llm.ToolCall{ID: b.ID, Name: b.Name, Args: b.Input}), true
	case "server_tool_use", "mcp_tool_use":
		r.Leave(fmt.Sprintf("what the provider's tool %s was called for (%s)", b.Name, field))
		return llm.Part{}, false
	}
	if strings.HasSuffix(b.Type, "_tool_result") {
		r.Leave(fmt.Sprintf("what a provider's tool gave back (%s)", field))
		return llm.Part{}, false
	}
	r.Bind(fmt.Sprintf("a block of type %q (%s)", b.Type, field))
	return llm.Part{}, false
}

// given reads a block of a tool result.
func (r *reading) given(field string, b *askedBlock) (llm.Part, bool) {
	switch b.Type {
	case "text", "image", "document":
		return r.block(field, b)
	}
	r.Bind(fmt.Sprintf("a block of type %q (%s)", b.Type, field))
	return llm.Part{}, false
}

// source reads an image, or a document that is text.
func (r *reading) source(field string, b *askedBlock) (llm.Part, bool) {
	s := b.Source
	switch {
	case b.Type == "document" && s.Type == "text":
		return llm.Part{Text: s.Data}, s.Data != ""
	case b.Type == "document":
		r.Bind("a document that is not text (" + field + ")")
		return llm.Part{}, false
	case s.Type != "base64":
		r.Bind("a picture that the provider is to fetch (" + field + ")")
		return llm.Part{}, false
	}
	return r.Picture(field, s.MediaType, s.Data)
}

// result is a tool result, followed by its images.
func (r *reading) result(field string, b *askedBlock) ([]llm.Part, error) {
	var texts []string
	var pictures []llm.Part
	if body.IsText(b.Content) {
		texts = append(texts, scan.Text(b.Content))
	} else if !body.Null(b.Content) {
		err := body.List(field+".content", b.Content, func(field string, element []byte) error {
			var inner askedBlock
			if err := body.Into(field, element, &inner); err != nil {
				return err
			}
			part, ok := r.given(field, &inner)
			switch {
			case !ok:
			case part.Image != nil:
				pictures = append(pictures, part)
			default:
				texts = append(texts, part.Text)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	result := r.calls.Came(b.ToolUseID, strings.Join(texts, "\n"), b.IsError)
	return append([]llm.Part{result}, pictures...), nil
}
