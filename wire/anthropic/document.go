package anthropic

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/wire"
)

type wireDocument struct {
	Type    string            `json:"type"`
	ID      string            `json:"id"`
	Content []json.RawMessage `json:"content"`
	Stop    string            `json:"stop_reason"`
	Usage   json.RawMessage   `json:"usage"`
}

// Unstream implements wire.Unstreamer: it turns a whole message into the events of a streamed one.
func (s *stream) Unstream(document []byte) ([][]byte, error) {
	var d wireDocument
	if err := json.Unmarshal(document, &d); err != nil || d.Type != "message" || d.Stop == "" {
		return nil, wire.ErrNoAnswer
	}
	list := []any{map[string]any{"type": "message_start", "message": map[string]any{"id": d.ID, "usage": orNull(d.Usage)}}}
	for i, block := range d.Content {
		list = append(list, map[string]any{"type": "content_block_start", "index": i, "content_block": block})
		var thought struct{ Thinking, Signature string }
		if json.Unmarshal(block, &thought) == nil && thought.Thinking+thought.Signature != "" {
			list = append(list, delta(i, "thinking_delta", "thinking", thought.Thinking), delta(i, "signature_delta", "signature", thought.Signature))
		}
		list = append(list, map[string]any{"type": "content_block_stop", "index": i})
	}
	list = append(list, map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": d.Stop}}, map[string]any{"type": "message_stop"})
	return wire.Events(list...)
}

func delta(index int, kind, member, value string) any {
	return map[string]any{"type": "content_block_delta", "index": index, "delta": map[string]any{"type": kind, member: value}}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
