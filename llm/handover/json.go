package handover

import (
	"bytes"
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
)

func argsOf(c llm.ToolCall) json.RawMessage {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		return json.RawMessage("{}")
	}
	return bytes.ToValidUTF8(c.Args, []byte("\uFFFD"))
}

// IsObject reports whether raw is one JSON object.
func IsObject(raw []byte) bool {
	return json.Valid(raw) && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))
}
