package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
)

// Target is what is asked.
type Target struct {
	Model    string // its name on the wire
	NoImages bool   // it takes no pictures
	Own      bool   // it is asked of the service whose wire this is, not of another that speaks it too
}

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

// JSON is v as JSON, with <, > and & as they are.
func JSON(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Events writes events as JSON.
func Events(list ...any) ([][]byte, error) {
	var events [][]byte
	for _, event := range list {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(event); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		events = append(events, b.Bytes())
	}
	return events, nil
}

const (
	noOutput = "(no tool output)"
	failed   = "Error: "
)

// Output is a tool's result for a wire that takes text, not empty, and has no flag for
// a tool that failed.
func Output(r *llm.ToolResult) string {
	text := r.Text
	if text == "" {
		text = noOutput
	}
	if r.IsError {
		return failed + text
	}
	return text
}

// DataURL is a picture as a URL that holds it.
func DataURL(p *llm.Image) string {
	return "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
