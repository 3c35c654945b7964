package body

import (
	"bytes"
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
)

// Calls are the names of the tools that were called, by the ids of the calls: results tell
// the ids alone.
type Calls map[string]string

// Made is a call as a part of a message. Arguments that are no JSON object become one that
// has them.
func (c Calls) Made(call llm.ToolCall) llm.Part {
	c[call.ID] = call.Name
	args := bytes.TrimSpace(call.Args)
	switch {
	case Null(args):
		args = []byte("{}")
	case args[0] != '{' || !json.Valid(args):
		args, _ = json.Marshal(map[string]string{"input": string(args)}) // texts can always be written
	}
	call.Args = args
	return llm.Part{Call: &call}
}

// Came is the result of the call with an id.
func (c Calls) Came(id, text string, failed bool) llm.Part {
	return llm.Part{Result: &llm.ToolResult{CallID: id, Name: c[id], Text: text, IsError: failed}}
}

// Say adds a message of what was said, if anything was.
func Say(to *[]llm.Message, role llm.Role, parts ...llm.Part) {
	if len(parts) > 0 {
		*to = append(*to, llm.Message{Role: role, Parts: parts})
	}
}
