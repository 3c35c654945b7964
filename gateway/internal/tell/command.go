package tell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// Command is what a client wants from a conversation.
type Command struct {
	Session string
	// Answer answers what the newest run asks; nil = there is a message, or nothing.
	Answer *Answer
	// Dismissed is a suggestion that the user dismissed, writing Text instead; "" = none.
	Dismissed string
	// Text is what the user says; "" = the client only asks for the current state.
	Text string
	// Message is the client's id for that message. The same id begins only one run.
	Message string
	// Again says that the client has an answer to the message, or part of one, and wants another.
	Again bool
	// History is the client's copy of what was said before, for conversations that are new here.
	History []llm.Message

	Model       string // "" = the conversation's own
	AutoRecover *bool  // nil = the conversation's own
}

// Answer answers a suggestion, a live wait or a slow model call with one of its actions.
type Answer struct {
	SuggestionID string `json:"suggestionId,omitempty" maxLength:"128" doc:"The id that came with the buttons; by default what the run asks now."`
	Action       string `json:"action" minLength:"1" maxLength:"64" doc:"An action's id, or its kind." example:"a1"`
	Model        string `json:"model,omitempty" maxLength:"256" doc:"With a switch: another model that the run may use."`
}

// FieldError says what is wrong with a field of a request.
type FieldError struct {
	Field string // "messages[0].parts"
	Err   error
}

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// Limits on what a client sends, besides that on the request's body.
const (
	maxID   = 256     // bytes of a message's id
	maxText = 4 << 20 // bytes of a message
)

// CheckMessage says what is wrong with the message of a command, if it has one.
func (c *Command) CheckMessage(field string) error {
	switch {
	case len(c.Message) > maxID:
		return &FieldError{field, fmt.Errorf("its id has %d bytes; at most %d are allowed", len(c.Message), maxID)}
	case strings.TrimSpace(c.Text) == "":
		return &FieldError{field, errors.New("the message is empty")}
	case len(c.Text) > maxText:
		return &FieldError{field, fmt.Errorf("the message has %d bytes; at most %d are allowed", len(c.Text), maxText)}
	}
	return nil
}

// Say adds a message to History.
func (c *Command) Say(role llm.Role, text string) {
	if strings.TrimSpace(text) != "" {
		c.History = append(c.History, llm.Message{Role: role, Parts: []llm.Part{{Text: text}}})
	}
}
