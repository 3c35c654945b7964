package openai

import (
	"encoding/json"
	"slices"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	maxID = 40 // bytes of a tool call's id
)

type wireRequest struct {
	Model     string        `json:"model"`
	Stream    bool          `json:"stream"`
	Options   wireOptions   `json:"stream_options"`
	MaxOwn    int           `json:"max_completion_tokens,omitempty"` // the only name that OpenAI's newer models accept
	MaxTokens int           `json:"max_tokens,omitempty"`            // the only name that imitators know
	Effort    string        `json:"reasoning_effort,omitempty"`
	Messages  []wireMessage `json:"messages"`
	Tools     []wireTool    `json:"tools,omitempty"`

	Temperature *float64    `json:"temperature,omitempty"`
	TopP        *float64    `json:"top_p,omitempty"`
	ToolChoice  any         `json:"tool_choice,omitempty"` // a string, or wireToolChoice
	Format      *wireFormat `json:"response_format,omitempty"`
}

type wireToolChoice struct {
	Type     string   `json:"type"`
	Function wireName `json:"function"`
}

type wireName struct {
	Name string `json:"name"`
}

type wireFormat struct {
	Type   string     `json:"type"`
	Schema wireSchema `json:"json_schema"`
}

type wireSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type wireOptions struct {
	Usage bool `json:"include_usage"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string, or []wirePart
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Prefix     bool       `json:"prefix,omitempty"` // the message is to be continued; Mistral's and DeepSeek's name for it
}

type wirePart struct {
	Type  string     `json:"type"`
	Text  string     `json:"text,omitempty"`
	Image *wireImage `json:"image_url,omitempty"`
}

type wireImage struct {
	URL string `json:"url"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireCallFunc `json:"function"`
}

type wireCallFunc struct {
	Name string `json:"name"`
	Args string `json:"arguments"`
}

// Encode writes request as JSON, and says what was changed in the transcript.
func Encode(to wire.Target, request llm.Request) ([]byte, []llm.Repair, error) {
	told, err := handover.Transcript(request.Messages, handover.Target{Model: request.Model, MaxID: maxID, NoImages: to.NoImages})
	if err != nil {
		return nil, nil, err
	}
	out := wireRequest{
		Model: to.Model, Stream: true, Options: wireOptions{Usage: true}, Effort: request.ReasoningEffort,
	}
	if limit := max(0, request.MaxOutputTokens); to.Own {
		out.MaxOwn = limit
	} else {
		out.MaxTokens = limit
	}
	if request.System != "" {
		out.Messages = append(out.Messages, wireMessage{Role: "system", Content: request.System})
	}
	for _, m := range told.Messages {
		out.Messages = append(out.Messages, messages(m)...)
	}
	if last := &out.Messages[len(out.Messages)-1]; last.Role == "assistant" {
		last.Prefix = to.Prefill && !to.Own
	}
	if out.Tools, err = tools(request.Tools); err != nil {
		return nil, nil, err
	}
	if err := out.shape(request); err != nil {
		return nil, nil, err
	}
	body, err := wire.JSON(out)
	return body, told.Repairs, err
}

// shape sets the form of the answer.
func (r *wireRequest) shape(request llm.Request) error {
	if wire.Samples(r.Model, request) {
		r.Temperature, r.TopP = request.Temperature, request.TopP
	}
	if len(r.Tools) > 0 {
		r.ToolChoice = toolChoice(request.ToolChoice)
	}
	if request.Format == nil {
		return nil
	}
	schema, err := wire.AnswerSchema(request.Format)
	r.Format = &wireFormat{"json_schema", wireSchema{wire.AnswerName(request.Format), schema, request.Format.Strict}}
	return err
}

// toolChoice is nil if the model decides.
func toolChoice(c llm.ToolChoice) any {
	switch {
	case c.Mode == llm.ToolRequired && c.Name != "":
		return wireToolChoice{"function", wireName{c.Name}}
	case c.Mode != llm.ToolAuto:
		return c.Mode
	}
	return nil
}

// messages gives the messages for one message: each tool result becomes its own, and a message with
// only reasoning is left out.
func messages(m llm.Message) []wireMessage {
	switch m.Role {
	case llm.RoleTool:
		return results(m)
	case llm.RoleAssistant:
		return assistant(m)
	}
	return []wireMessage{{Role: "user", Content: content(m)}}
}

func results(m llm.Message) []wireMessage {
	var out []wireMessage
	for _, p := range m.Parts {
		out = append(out, wireMessage{Role: "tool", Content: wire.Output(p.Result), ToolCallID: p.Result.CallID})
	}
	return out
}

func assistant(m llm.Message) []wireMessage {
	out := wireMessage{Role: "assistant"}
	if text := m.Text(); text != "" {
		out.Content = text
	}
	for _, c := range m.Calls() {
		out.ToolCalls = append(out.ToolCalls, wireCall{c.ID, "function", wireCallFunc{c.Name, string(c.Args)}})
	}
	if out.Content == nil && out.ToolCalls == nil {
		return nil
	}
	return []wireMessage{out}
}

// content is a user's message: a string, or a list if it has images.
func content(m llm.Message) any {
	if !slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Image != nil }) {
		return m.Text()
	}
	var parts []wirePart
	for _, p := range m.Parts {
		if p.Image == nil {
			parts = append(parts, wirePart{Type: "text", Text: p.Text})
			continue
		}
		parts = append(parts, wirePart{Type: "image_url", Image: &wireImage{wire.DataURL(p.Image)}})
	}
	return parts
}

func tools(declared []llm.Tool) ([]wireTool, error) {
	var out []wireTool
	for _, t := range declared {
		schema, err := wire.Schema(t)
		if err != nil {
			return nil, err
		}
		out = append(out, wireTool{"function", wireFunction{t.Name, t.Description, schema}})
	}
	return out, nil
}
