package aisdk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
)

// The triggers of a request.
const (
	TriggerSubmit     = "submit-message"
	TriggerRegenerate = "regenerate-message"
)

// maxMessages bounds the messages of a chat in a request.
const maxMessages = 10_000

// Request is what useChat sends: its whole copy of the chat, of which the user's last message
// counts. Other fields, and parts of other types, are ignored.
type Request struct {
	ID        string       `json:"id" maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$" doc:"The chat: the conversation that it continues; a new id begins one." example:"golf"`
	Messages  []Message    `json:"messages" doc:"The chat as the client has it; the last message of the user is the one that is answered."`
	Trigger   string       `json:"trigger,omitempty" enum:"submit-message,regenerate-message"`
	MessageID string       `json:"messageId,omitempty" maxLength:"256"`
	Recovery  *tell.Answer `json:"recovery,omitempty" doc:"A button that was pressed; the message is the same run then."`

	Model       string `json:"model,omitempty" maxLength:"256" doc:"provider/model, for this message."`
	AutoRecover *bool  `json:"autoRecover,omitempty" doc:"Whether decisions are carried out or offered, for this message."`
}

// Message is a message of a chat; unknown fields are ignored.
type Message struct {
	ID    string `json:"id,omitempty" maxLength:"256"`
	Role  string `json:"role" enum:"system,user,assistant"`
	Parts []Part `json:"parts"`
}

// Part is a piece of a message; unknown fields are ignored.
type Part struct {
	Type string `json:"type" maxLength:"256"`
	Text string `json:"text,omitempty"`
}

// text is a message's text, and whether it has parts other than text.
func (m *Message) text() (text string, more bool) {
	var parts []string
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			parts = append(parts, p.Text)
		case "file":
			more = true
		}
	}
	return strings.Join(parts, "\n\n"), more
}

// Command is what the request wants; an error is a *tell.FieldError.
func (r *Request) Command() (tell.Command, error) {
	c := tell.Command{Session: r.ID, Answer: r.Recovery, Model: r.Model, AutoRecover: r.AutoRecover, Again: r.Trigger == TriggerRegenerate}
	last := len(r.Messages) - 1
	for last >= 0 && r.Messages[last].Role != "user" {
		last--
	}
	if c.Answer != nil { // the message has a run already
		return c, nil
	}
	if len(r.Messages) > maxMessages {
		return c, &tell.FieldError{Field: "messages", Err: fmt.Errorf("there are %d; at most %d are allowed", len(r.Messages), maxMessages)}
	}
	if last < 0 {
		return c, &tell.FieldError{Field: "messages", Err: errors.New("there is no message from the user")}
	}
	field := fmt.Sprintf("messages[%d].parts", last)
	text, more := r.Messages[last].text()
	if more {
		return c, &tell.FieldError{Field: field, Err: errors.New("a message may only be text: this one has a file, such as a picture")}
	}
	c.Text, c.Message = text, r.Messages[last].ID
	for _, m := range r.Messages[:last] {
		text, _ := m.text()
		switch m.Role {
		case "user":
			c.Say(llm.RoleUser, text)
		case "assistant":
			c.Say(llm.RoleAssistant, text)
		}
	}
	return c, c.CheckMessage(field)
}
