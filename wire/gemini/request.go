package gemini

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	maxID = 64 // bytes of a function call's id

	// unsigned replaces the signature of a call that the model did not make itself; Gemini 3
	// refuses a turn if its first call has none. From Google's documentation of thought signatures.
	unsigned = "skip_thought_signature_validator"
)

type wireRequest struct {
	System     *wireContent    `json:"systemInstruction,omitempty"`
	Contents   []wireContent   `json:"contents"`
	Tools      []wireTools     `json:"tools,omitempty"`
	ToolConfig *wireToolConfig `json:"toolConfig,omitempty"`
	Generation *wireGeneration `json:"generationConfig,omitempty"`
}

type wireContent struct {
	Role  string     `json:"role,omitempty"`
	Parts []wirePart `json:"parts"`
}

// wirePart is a part of any kind.
type wirePart struct {
	Text      *string       `json:"text,omitempty"` // may be empty if there is a signature
	Inline    *wireInline   `json:"inlineData,omitempty"`
	Call      *wireCall     `json:"functionCall,omitempty"`
	Response  *wireResponse `json:"functionResponse,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
}

type wireInline struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type wireCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type wireResponse struct {
	ID       string     `json:"id,omitempty"`
	Name     string     `json:"name"`
	Response wireResult `json:"response"`
}

type wireResult struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

type wireTools struct {
	Functions []wireFunction `json:"functionDeclarations"`
}

// wireFunction declares its parameters in JSON Schema. The older field "parameters" accepts only a
// subset of OpenAPI, and the API refuses the whole request for any other keyword in it.
type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

type wireToolConfig struct {
	Calling wireCalling `json:"functionCallingConfig"`
}

type wireCalling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

type wireGeneration struct {
	MaxTokens   int             `json:"maxOutputTokens,omitempty"` // thinking included
	Thinking    *wireThinking   `json:"thinkingConfig,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
	MIMEType    string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
}

type wireThinking struct {
	Show   bool   `json:"includeThoughts"`
	Level  string `json:"thinkingLevel,omitempty"`
	Budget int    `json:"thinkingBudget,omitempty"`
}

// Encode writes request as JSON for the target, and says what was changed in the transcript.
func Encode(to wire.Target, request llm.Request) ([]byte, []llm.Repair, error) {
	told, err := handover.Transcript(request.Messages, handover.Target{
		Model: request.Model, MaxID: maxID, NoImages: to.NoImages, Alternate: true,
	})
	if err != nil {
		return nil, nil, err
	}
	out := wireRequest{Contents: contents(told.Messages, isGemini3(to.Model))}
	if request.System != "" {
		out.System = &wireContent{Parts: []wirePart{{Text: &request.System}}}
	}
	if out.Tools, err = tools(request.Tools); err != nil {
		return nil, nil, err
	}
	if len(request.Tools) > 0 {
		out.ToolConfig = toolChoice(request.ToolChoice)
	}
	if out.Generation, err = generation(to, request); err != nil {
		return nil, nil, err
	}
	body, err := wire.JSON(out)
	return body, told.Repairs, err
}

// generation is nil if everything is left to the model.
func generation(to wire.Target, request llm.Request) (*wireGeneration, error) {
	out := wireGeneration{
		MaxTokens: max(0, request.MaxOutputTokens), Thinking: thinkingFor(to.Model, request.ReasoningEffort),
		Temperature: request.Temperature, TopP: request.TopP,
	}
	if request.Format != nil {
		schema, err := wire.AnswerSchema(request.Format)
		if err != nil {
			return nil, err
		}
		out.MIMEType, out.Schema = "application/json", schema
	}
	if out.MaxTokens == 0 && out.Thinking == nil && out.Temperature == nil && out.TopP == nil && out.Schema == nil {
		return nil, nil
	}
	return &out, nil
}

// toolChoice is nil if the model decides.
func toolChoice(c llm.ToolChoice) *wireToolConfig {
	switch {
	case c.Mode == llm.ToolNone:
		return &wireToolConfig{wireCalling{Mode: "NONE"}}
	case c.Mode == llm.ToolRequired && c.Name != "":
		return &wireToolConfig{wireCalling{"ANY", []string{c.Name}}}
	case c.Mode == llm.ToolRequired:
		return &wireToolConfig{wireCalling{Mode: "ANY"}}
	}
	return nil
}

// contents writes a transcript with alternating roles, for a model of generation 3 or of an earlier
// one. The responses to a turn's calls form a content of their own: nothing else may come between a
// call and its response, or be in one content with the responses.
func contents(transcript []llm.Message, gemini3 bool) []wireContent {
	var out []wireContent
	add := func(role string, parts []wirePart) {
		if len(parts) > 0 {
			out = append(out, wireContent{role, parts})
		}
	}
	for _, m := range transcript {
		if m.Role == llm.RoleAssistant {
			add("model", modelParts(m, gemini3))
			continue
		}
		responses, said := userParts(m, gemini3)
		add("user", responses)
		add("user", said)
	}
	return out
}

func modelParts(m llm.Message, gemini3 bool) []wirePart {
	var out []wirePart
	calls := 0
	for _, p := range m.Parts {
		switch {
		case p.Thinking != nil:
			if p.Thinking.Signature != "" {
				out = append(out, wirePart{Text: new(string), Signature: p.Thinking.Signature})
			}
		case p.Call != nil:
			part := wirePart{Call: &wireCall{Name: p.Call.Name, Args: p.Call.Args}, Signature: p.Call.Signature}
			if gemini3 {
				part.Call.ID = p.Call.ID
			}
			if gemini3 && calls == 0 && part.Signature == "" {
				part.Signature = unsigned
			}
			calls++
			out = append(out, part)
		default:
			out = append(out, plainPart(p))
		}
	}
	return out
}

// userParts separates tool responses from everything else that the user says.
func userParts(m llm.Message, gemini3 bool) (responses, said []wirePart) {
	for _, p := range m.Parts {
		if p.Result == nil {
			said = append(said, plainPart(p))
			continue
		}
		response := wireResponse{Name: p.Result.Name, Response: wireResult{Output: &p.Result.Text}}
		if p.Result.IsError {
			response.Response = wireResult{Error: &p.Result.Text}
		}
		if gemini3 {
			response.ID = p.Result.CallID
		}
		responses = append(responses, wirePart{Response: &response})
	}
	return responses, said
}

// plainPart is an image or text.
func plainPart(p llm.Part) wirePart {
	if p.Image != nil {
		return wirePart{Inline: &wireInline{p.Image.MediaType, p.Image.Data}}
	}
	return wirePart{Text: &p.Text}
}

func tools(declared []llm.Tool) ([]wireTools, error) {
	var functions []wireFunction
	for _, t := range declared {
		schema, err := wire.Schema(t)
		if err != nil {
			return nil, err
		}
		functions = append(functions, wireFunction{t.Name, t.Description, schema})
	}
	if functions == nil {
		return nil, nil
	}
	return []wireTools{{functions}}, nil
}
