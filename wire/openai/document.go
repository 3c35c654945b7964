package openai

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/wire"
)

// Unstream implements wire.Unstreamer: a whole completion is a chunk whose delta is called
// message.
func (s *stream) Unstream(document []byte) ([][]byte, error) {
	var d struct {
		Choices []struct {
			Finish  string          `json:"finish_reason"`
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(document, &d); err != nil || len(d.Choices) == 0 || len(d.Choices[0].Message) == 0 || d.Choices[0].Finish == "" {
		return nil, wire.ErrNoAnswer
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(document, &whole); err != nil {
		return nil, wire.ErrNoAnswer
	}
	list, err := wire.Events(map[string]any{"delta": d.Choices[0].Message, "finish_reason": d.Choices[0].Finish})
	if err != nil {
		return nil, err
	}
	whole["choices"] = append(append(json.RawMessage("["), list[0]...), ']')
	return wire.Events(whole)
}
