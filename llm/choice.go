package llm

import "encoding/json"

// ToolMode says whether a model may call tools.
type ToolMode string

const (
	// ToolAuto lets the model decide.
	ToolAuto ToolMode = ""
	// ToolNone forbids tool calls.
	ToolNone ToolMode = "none"
	// ToolRequired makes the model call a tool.
	ToolRequired ToolMode = "required"
)

// ToolChoice says whether a model may call the tools of a Request. The zero value lets it decide.
type ToolChoice struct {
	Mode ToolMode `json:"mode,omitempty"`
	Name string   `json:"name,omitempty"` // with ToolRequired: the tool that must be called; "" = any
}

// Format asks for an answer in JSON.
type Format struct {
	Name   string          `json:"name,omitempty"`   // letters, digits, _ and -, at most 64; "" = "answer"
	Schema json.RawMessage `json:"schema"`           // JSON Schema of the answer
	Strict bool            `json:"strict,omitempty"` // the answer must keep to the schema, if the provider offers that choice
}
