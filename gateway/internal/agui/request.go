package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Input is what a client sends to run its agent: its whole copy of the thread. Other fields, such as
// tools of the page, are ignored.
type Input struct {
	ThreadID string          `json:"threadId" maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$" doc:"The conversation that it continues; a new id begins one." example:"golf"`
	RunID    string          `json:"runId" minLength:"1" maxLength:"256" doc:"What the client calls this exchange."`
	Protocol string          `json:"protocolVersion,omitempty" maxLength:"32"`
	Messages []Message       `json:"messages" maxItems:"10000" doc:"The thread as the client has it. A last message of the user's is answered; without one the client gets the thread as it is."`
	State    json.RawMessage `json:"state,omitempty" doc:"The client's state: it is left as it is, beside its recovery."`
	Resume   []Resume        `json:"resume,omitempty" maxItems:"100" doc:"Answers to interrupts."`
	// Props is what the page adds; see props.
	Props json.RawMessage `json:"forwardedProps,omitempty" doc:"An object with any of these: model, autoRecover, recovery. recovery is \"interrupt\" for suggestions as interrupts, \"result\" for suggestions as results, or an answer: {suggestionId, action, model, mode}."`
}

// Message is a message of a thread; unknown fields are ignored.
type Message struct {
	ID      string          `json:"id,omitempty" maxLength:"256"`
	Role    string          `json:"role" enum:"developer,system,assistant,user,tool,activity,reasoning"`
	Content json.RawMessage `json:"content,omitempty"`

	whole json.RawMessage
}

// UnmarshalJSON also keeps the message as it was sent.
func (m *Message) UnmarshalJSON(data []byte) error {
	type fields Message
	err := json.Unmarshal(data, (*fields)(m))
	m.whole = bytes.Clone(data)
	return err
}

// Resume answers an interrupt.
type Resume struct {
	InterruptID string          `json:"interruptId" minLength:"1" maxLength:"128"`
	Status      string          `json:"status" enum:"resolved,cancelled"`
	Payload     json.RawMessage `json:"payload,omitempty" doc:"Where it is resolved: {action, model}."`
}

// mode is how a suggestion is sent.
type mode string

const (
	modeResult    mode = "result"
	modeInterrupt mode = "interrupt"
)

// props are what a page sends in addition to the protocol.
type props struct {
	Model       string          `json:"model"`
	AutoRecover *bool           `json:"autoRecover"`
	Recovery    json.RawMessage `json:"recovery"`

	mode   mode
	answer *tell.Answer
}

const (
	maxModel  = 256
	maxAction = 64
	maxAsked  = 128
)

// props decodes them; an error is a *tell.FieldError.
func (in *Input) props() (p props, err error) {
	const field = "forwardedProps"
	wrong := func(what string, err error) (props, error) {
		return props{}, &tell.FieldError{Field: field + what, Err: err}
	}
	p.mode = modeResult
	if len(in.Props) == 0 || string(in.Props) == "null" {
		return p, nil
	}
	if err := json.Unmarshal(in.Props, &p); err != nil {
		return wrong("", errors.New("it is an object with model (a text), autoRecover (true or false) and recovery"))
	}
	if len(p.Model) > maxModel {
		return wrong(".model", fmt.Errorf("the name is longer than %d bytes", maxModel))
	}
	if len(p.Recovery) == 0 || string(p.Recovery) == "null" {
		return p, nil
	}
	var said struct {
		Mode mode `json:"mode"`
		tell.Answer
	}
	if json.Unmarshal(p.Recovery, &said.Mode) != nil && json.Unmarshal(p.Recovery, &said) != nil {
		return wrong(".recovery", errors.New(`it is "interrupt", "result", or an object with suggestionId, action, model and mode`))
	}
	switch said.Mode {
	case modeResult, modeInterrupt:
		p.mode = said.Mode
	case "":
	default:
		return wrong(".recovery", fmt.Errorf("there is no mode %.40q: write interrupt or result", said.Mode))
	}
	if said.Action != "" || said.SuggestionID != "" {
		p.answer = &said.Answer
		return p, check(field+".recovery", said.Answer)
	}
	return p, nil
}

func check(field string, a tell.Answer) error {
	switch {
	case a.Action == "" || len(a.Action) > maxAction:
		return &tell.FieldError{Field: field, Err: fmt.Errorf("action is the id or the kind of an action, of at most %d bytes", maxAction)}
	case len(a.SuggestionID) > maxAsked || len(a.Model) > maxModel:
		return &tell.FieldError{Field: field, Err: errors.New("suggestionId or model is too long")}
	}
	return nil
}

// Command is what the request wants; an error is a *tell.FieldError.
func (in *Input) Command() (tell.Command, error) {
	p, err := in.props()
	c := tell.Command{Session: in.ThreadID, Answer: p.answer, Model: p.Model, AutoRecover: p.AutoRecover}
	if err != nil {
		return c, err
	}
	for i, r := range in.Resume {
		if r.Status == "cancelled" {
			c.Dismissed = r.InterruptID
			continue
		}
		field := fmt.Sprintf("resume[%d].payload", i)
		a := tell.Answer{}
		if json.Unmarshal(r.Payload, &a.Action) != nil && json.Unmarshal(r.Payload, &a) != nil {
			return c, &tell.FieldError{Field: field, Err: errors.New("it is an object with action and model, or the action")}
		}
		a.SuggestionID = r.InterruptID
		if err := check(field, a); err != nil {
			return c, err
		}
		c.Answer = &a
	}
	last := len(in.Messages) - 1
	for last >= 0 && (in.Messages[last].Role == "activity" || in.Messages[last].Role == "reasoning") {
		last--
	}
	if c.Answer != nil || last < 0 || in.Messages[last].Role != "user" {
		if c.Answer == nil && c.Dismissed != "" {
			c.Answer = &tell.Answer{SuggestionID: c.Dismissed, Action: recovery.ButtonStop}
		}
		return c, nil
	}
	field := fmt.Sprintf("messages[%d].content", last)
	c.Message = in.Messages[last].ID
	if c.Text, err = text(in.Messages[last].Content); err != nil {
		return c, &tell.FieldError{Field: field, Err: err}
	}
	for _, m := range in.Messages[:last] {
		said, err := text(m.Content)
		switch {
		case err != nil:
		case m.Role == "user":
			c.Say(llm.RoleUser, said)
		case m.Role == "assistant":
			c.Say(llm.RoleAssistant, said)
		}
	}
	return c, c.CheckMessage(field)
}

// text is the text of a message's content, which is a string or a list of parts.
func text(content json.RawMessage) (string, error) {
	if len(content) == 0 {
		return "", nil
	}
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return whole, nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts) != nil {
		return "", errors.New("it is a text, or a list of parts")
	}
	var texts []string
	for _, p := range parts {
		if p.Type != "text" {
			return "", errors.New("a message may only be text: this one has something else, such as a picture")
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n"), nil
}
