package llm

import (
	"encoding/json"
	"strings"
)

// Role says who speaks in a Message.
type Role string

// The three speakers. RoleTool is for the results of tool calls.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
	// Model is the full name (provider/model) of the model that wrote an assistant message. For
	// another model, adapters leave out what only this one may see again (reasoning, signatures).
	Model string `json:"model,omitempty"`
}

// Part is one piece of a Message: exactly one of its fields is set.
type Part struct {
	Text     string      `json:"text,omitempty"`
	Thinking *Thinking   `json:"thinking,omitempty"`
	Image    *Image      `json:"image,omitempty"`
	Call     *ToolCall   `json:"call,omitempty"`
	Result   *ToolResult `json:"result,omitempty"`
}

// Thinking is reasoning that a model showed. Signature and Redacted are opaque: only the model that
// wrote them understands them.
type Thinking struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// Image is a picture in a user's message or in a tool's result.
type Image struct {
	MediaType string `json:"mediaType"` // for example "image/png"
	Data      []byte `json:"data"`      // base64 in JSON
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string          `json:"id"` // unique within the conversation
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // a JSON object
	// Signature is opaque: only the model that made the call understands it.
	Signature string `json:"signature,omitempty"`
}

// ToolResult is what a tool call returned.
type ToolResult struct {
	CallID  string `json:"callId"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"isError,omitempty"`
}

// User makes a user's message of text.
func User(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}

// Text joins the text parts of m. A single part is not copied, since it may be long.
func (m Message) Text() string {
	if len(m.Parts) == 1 {
		return m.Parts[0].Text
	}
	var s strings.Builder
	for _, p := range m.Parts {
		s.WriteString(p.Text)
	}
	return s.String()
}

// Calls lists the tool calls of m in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}
