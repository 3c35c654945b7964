package responses

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	maxID     = 64 // bytes of a call_id
	minTokens = 16 // the smallest output limit that the API accepts
)

type wireRequest struct {
	Model        string         `json:"model"`
	Stream       bool           `json:"stream"`
	Store        bool           `json:"store"` // always sent: the default is true
	Include      []string       `json:"include,omitempty"`
	MaxTokens    int            `json:"max_output_tokens,omitempty"`
	Reasoning    *wireReasoning `json:"reasoning,omitempty"`
	Instructions string         `json:"instructions,omitempty"`
	Input        []any          `json:"input"` // elements are of the item types below
	Tools        []wireTool     `json:"tools,omitempty"`
	Temperature  *float64       `json:"temperature,omitempty"`
	TopP         *float64       `json:"top_p,omitempty"`
	ToolChoice   any            `json:"tool_choice,omitempty"` // a string, or wireToolChoice
	Text         *wireForm      `json:"text,omitempty"`
}

type wireToolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type wireForm struct {
	Format wireFormat `json:"format"`
}

type wireFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type wireReasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

type wireTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // always sent: the default is true
}

type messageItem struct {
	Type    string     `json:"type"`
	Role    string     `json:"role"`
	Content []wirePart `json:"content"`
}

type wirePart struct {
	Type   string `json:"type"`
	Text   string `json:"text,omitempty"`
	Image  string `json:"image_url,omitempty"`
	Detail string `json:"detail,omitempty"` // of an image
}

type callItem struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Args   string `json:"arguments"`
}

type outputItem struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// Encode writes request as JSON for the target, and says what was changed in the transcript.
func Encode(to wire.Target, request llm.Request) ([]byte, []llm.Repair, error) {
	told, err := handover.Transcript(request.Messages, handover.Target{Model: request.Model, MaxID: maxID, NoImages: to.NoImages})
	if err != nil {
		return nil, nil, err
	}
	out := wireRequest{Model: to.Model, Stream: true, Instructions: request.System}
	if request.MaxOutputTokens > 0 {
		out.MaxTokens = max(minTokens, request.MaxOutputTokens)
	}
	for _, m := range told.Messages {
		out.Input = append(out.Input, items(m)...)
	}
	if out.Tools, err = tools(request.Tools); err != nil {
		return nil, nil, err
	}
	out.reason(request.ReasoningEffort)
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
	r.Text = &wireForm{wireFormat{"json_schema", wire.AnswerName(request.Format), schema, request.Format.Strict}}
	return err
}

// toolChoice is nil if the model decides.
func toolChoice(c llm.ToolChoice) any {
	switch {
	case c.Mode == llm.ToolRequired && c.Name != "":
		return wireToolChoice{"function", c.Name}
	case c.Mode != llm.ToolAuto:
		return c.Mode
	}
	return nil
}

// items gives the items for one message; a message with only reasoning has none.
func items(m llm.Message) []any {
	switch m.Role {
	case llm.RoleTool:
		return outputs(m)
	case llm.RoleAssistant:
		return assistant(m)
	}
	return []any{messageItem{"message", "user", content(m)}}
}

func outputs(m llm.Message) []any {
	out := make([]any, 0, len(m.Parts))
	for _, p := range m.Parts {
		out = append(out, outputItem{"function_call_output", p.Result.CallID, wire.Output(p.Result)})
	}
	return out
}

// assistant gives the items of a model's message, in order. Reasoning is sent only before the item
// that followed it: the API refuses a reasoning item without one.
func assistant(m llm.Message) []any {
	var out, reasoning []any
	for _, p := range m.Parts {
		if p.Thinking != nil {
			if item, ok := reasoningOf(p.Thinking); ok {
				reasoning = append(reasoning, item)
			}
			continue
		}
		out = append(append(out, reasoning...), said(p))
		reasoning = nil
	}
	return out
}

func said(p llm.Part) any {
	if c := p.Call; c != nil {
		return callItem{"function_call", c.ID, c.Name, string(c.Args)}
	}
	return messageItem{"message", "assistant", []wirePart{{Type: "output_text", Text: p.Text}}}
}

// content is a user's text and images.
func content(m llm.Message) []wirePart {
	parts := make([]wirePart, 0, len(m.Parts))
	for _, p := range m.Parts {
		if p.Image == nil {
			parts = append(parts, wirePart{Type: "input_text", Text: p.Text})
			continue
		}
		parts = append(parts, wirePart{Type: "input_image", Image: wire.DataURL(p.Image), Detail: "auto"})
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
		out = append(out, wireTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: schema})
	}
	return out, nil
}
