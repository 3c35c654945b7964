package body

import (
	"bytes"
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
)

// Calls maps the ids of calls to the names of their tools, since results have only the id.
type Calls map[string]string

// Made makes the part for a call. Arguments that are not a JSON object are wrapped in one.
func (c Calls) Made(call llm.ToolCall) llm.Part {
	c[call.ID] = call.Name
	args := bytes.TrimSpace(call.Args)
	switch {
	case Null(args):
		args = []byte("{}")
	case args[0] != '{' || !json.Valid(args):
		args, _ = json.Marshal(map[string]string{"input": string(args)}) // strings can always be encoded
	}
	call.Args = args
	return llm.Part{Call: &call}
}

// Came makes the part for the result of the call with that id.
func (c Calls) Came(id, text string, failed bool) llm.Part {
	return llm.Part{Result: &llm.ToolResult{CallID: id, Name: c[id], Text: text, IsError: failed}}
}

// Say appends a message with these parts, if there are any.
func Say(to *[]llm.Message, role llm.Role, parts ...llm.Part) {
	if len(parts) > 0 {
		*to = append(*to, llm.Message{Role: role, Parts: parts})
	}
}
