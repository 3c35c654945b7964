package llm

import "encoding/json"

// ToolMode says whether a model may call tools.
type ToolMode string

const (
	// ToolAuto: the model decides.
	ToolAuto ToolMode = ""
	// ToolNone: it calls none.
	ToolNone ToolMode = "none"
	// ToolRequired: it has to call one.
	ToolRequired ToolMode = "required"
)

// ToolChoice says whether a model may call the tools of a Request. The zero value leaves
// it to the model.
type ToolChoice struct {
	Mode ToolMode `json:"mode,omitempty"`
	Name string   `json:"name,omitempty"` // with ToolRequired: the tool that it has to call; "" = any
}

// Format is the form of an answer that is JSON.
type Format struct {
	Name   string          `json:"name,omitempty"`   // letters, digits, _ and -, at most 64; "" = "answer"
	Schema json.RawMessage `json:"schema"`           // JSON Schema of the answer
	Strict bool            `json:"strict,omitempty"` // the answer has to keep to the schema, where the provider lets one choose
}
