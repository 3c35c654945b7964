package anthropic

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	// DefaultMaxTokens is the output limit of a request without one.
	DefaultMaxTokens = 8192

	maxID = 64 // bytes of a tool_use id
)

type wireRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	Stream      bool            `json:"stream"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	System      string          `json:"system,omitempty"`
	Thinking    *wireThinking   `json:"thinking,omitempty"`
	Messages    []wireMessage   `json:"messages"`
	Tools       []wireTool      `json:"tools,omitempty"`
	ToolChoice  *wireToolChoice `json:"tool_choice,omitempty"`
	Output      *wireOutput     `json:"output_config,omitempty"`
}

type wireToolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type wireOutput struct {
	Format wireFormat `json:"format"`
}

type wireFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type wireThinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

// wireBlock is a block of any type.
type wireBlock struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`

	Thinking  *string `json:"thinking,omitempty"` // may be empty if there is a signature
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`

	Source *wireSource `json:"source,omitempty"`

	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
}

type wireSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// Encode writes request as JSON for the target, and says what was changed in the transcript.
func Encode(to wire.Target, request llm.Request) ([]byte, []llm.Repair, error) {
	told, err := handover.Transcript(request.Messages, handover.Target{
		Model: request.Model, MaxID: maxID, NoImages: to.NoImages, Alternate: true,
	})
	if err != nil {
		return nil, nil, err
	}
	out := wireRequest{
		Model: to.Model, MaxTokens: request.MaxOutputTokens, Stream: true,
		System: request.System, Messages: messages(told.Messages),
	}
	if out.MaxTokens <= 0 {
		out.MaxTokens = DefaultMaxTokens
	}
	if out.Tools, err = tools(request.Tools); err != nil {
		return nil, nil, err
	}
	if len(out.Tools) > 0 {
		out.ToolChoice = toolChoice(request.ToolChoice)
	}
	if request.Format != nil {
		schema, err := wire.AnswerSchema(request.Format)
		if err != nil {
			return nil, nil, err
		}
		out.Output = &wireOutput{wireFormat{"json_schema", schema}}
	}
	out.think(request)
	out.sample(request)
	body, err := wire.JSON(out)
	return body, told.Repairs, err
}

// think asks for reasoning. The wire counts reasoning and answer together, so the budget for
// thinking is added to the limit. The API does not accept thinking if a tool must be called. It
// also demands that a round of tool calls with thinking has begun with it, so a round that another
// model began ends without thinking.
func (r *wireRequest) think(request llm.Request) {
	budget := wire.Budget(request.ReasoningEffort)
	if budget == 0 || request.ToolChoice.Mode == llm.ToolRequired && len(r.Tools) > 0 || !r.mayThink() {
		return
	}
	r.Thinking = &wireThinking{Type: "enabled", Budget: budget}
	r.MaxTokens += budget
}

// sample sets the temperature, which is at most 1 here, or otherwise top_p: newer models refuse
// both together, and a model that thinks refuses either.
func (r *wireRequest) sample(request llm.Request) {
	switch {
	case r.Thinking != nil:
	case request.Temperature != nil:
		r.Temperature = new(min(1, *request.Temperature))
	default:
		r.TopP = request.TopP
	}
}

// toolChoice is nil if the model decides.
func toolChoice(c llm.ToolChoice) *wireToolChoice {
	switch {
	case c.Mode == llm.ToolNone:
		return &wireToolChoice{Type: "none"}
	case c.Mode == llm.ToolRequired && c.Name != "":
		return &wireToolChoice{"tool", c.Name}
	case c.Mode == llm.ToolRequired:
		return &wireToolChoice{Type: "any"}
	}
	return nil
}

func (r *wireRequest) mayThink() bool {
	last := r.Messages[len(r.Messages)-1]
	if last.Role != "user" || last.Content[0].Type != "tool_result" || len(r.Messages) < 2 {
		return true
	}
	first := r.Messages[len(r.Messages)-2].Content[0].Type
	return first == "thinking" || first == "redacted_thinking"
}

// messages writes a transcript with alternating roles.
func messages(transcript []llm.Message) []wireMessage {
	out := make([]wireMessage, 0, len(transcript))
	for _, m := range transcript {
		out = append(out, wireMessage{string(m.Role), blocks(m)})
	}
	return out
}

func blocks(m llm.Message) []wireBlock {
	out := make([]wireBlock, 0, len(m.Parts))
	for _, p := range m.Parts {
		out = append(out, block(p))
	}
	return out
}

func block(p llm.Part) wireBlock {
	switch {
	case p.Thinking != nil && p.Thinking.Redacted != "":
		return wireBlock{Type: "redacted_thinking", Data: p.Thinking.Redacted}
	case p.Thinking != nil:
		return wireBlock{Type: "thinking", Thinking: &p.Thinking.Text, Signature: p.Thinking.Signature}
	case p.Image != nil:
		return wireBlock{Type: "image", Source: &wireSource{"base64", p.Image.MediaType, p.Image.Data}}
	case p.Call != nil:
		return wireBlock{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Args}
	case p.Result != nil:
		return wireBlock{Type: "tool_result", ToolUseID: p.Result.CallID, Content: p.Result.Text, IsError: p.Result.IsError}
	}
	return wireBlock{Type: "text", Text: p.Text}
}

func tools(declared []llm.Tool) ([]wireTool, error) {
	var out []wireTool
	for _, t := range declared {
		schema, err := wire.Schema(t)
		if err != nil {
			return nil, err
		}
		out = append(out, wireTool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	return out, nil
}
