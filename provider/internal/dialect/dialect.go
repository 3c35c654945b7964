package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
)

// Schema is t's schema, that of any object if it has none; an error if it is no
// JSON object or the tool has no name.
func Schema(t llm.Tool) (json.RawMessage, error) {
	switch {
	case t.Name == "":
		return nil, errors.New("a tool without a name")
	case len(bytes.TrimSpace(t.Schema)) == 0:
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	case !handover.IsObject(t.Schema):
		return nil, fmt.Errorf("the schema of tool %s is not a JSON object", t.Name)
	}
	return bytes.ToValidUTF8(t.Schema, []byte("\uFFFD")), nil
}

// Encode is v as JSON, with <, > and & as they are.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
