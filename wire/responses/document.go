package responses

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/wire"
)

type wireDocument struct {
	Object string            `json:"object"`
	Status string            `json:"status"`
	Output []json.RawMessage `json:"output"`
}

// Unstream implements wire.Unstreamer: it turns a whole response into the events of a streamed one.
func (s *stream) Unstream(document []byte) ([][]byte, error) {
	var d wireDocument
	if err := json.Unmarshal(document, &d); err != nil || d.Object != "response" {
		return nil, wire.ErrNoAnswer
	}
	switch d.Status {
	case "completed", "incomplete", "failed", "cancelled":
	default:
		return nil, wire.ErrNoAnswer // it is not finished
	}
	list := []any{map[string]any{"type": "response.created", "response": json.RawMessage(document)}}
	for i, item := range d.Output {
		list = append(list,
			map[string]any{"type": "response.output_item.added", "output_index": i, "item": item},
			map[string]any{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	list = append(list, map[string]any{"type": "response." + d.Status, "response": json.RawMessage(document)})
	return wire.Events(list...)
}
