package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
)

// Target is the model that is asked.
type Target struct {
	Model    string // its name on the wire
	NoImages bool   // it accepts no images
	Prefill  bool   // it continues a last message of its own
	Own      bool   // it is asked at the service that defined the wire, not at one that imitates it
}

// Schema is t's schema, or that of any object if it has none. It fails if the schema is not a
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

// AnswerSchema is the schema of an answer. It fails if that is not a JSON object.
func AnswerSchema(f *llm.Format) (json.RawMessage, error) {
	if !handover.IsObject(f.Schema) {
		return nil, errors.New("the schema of the answer is not a JSON object")
	}
	return bytes.ToValidUTF8(f.Schema, []byte("\uFFFD")), nil
}

// AnswerName is the name of an answer's schema, for wires that require one.
func AnswerName(f *llm.Format) string { return cmp.Or(f.Name, "answer") }

// Samples reports whether a model on OpenAI's wires accepts a temperature and top_p: models that
// reason refuse the whole request for either.
func Samples(model string, request llm.Request) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	reasons := func(family string) bool { return strings.HasPrefix(name, family) }
	return request.ReasoningEffort == "" && !slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5"}, reasons)
}

// Budget is how many tokens a model may spend on thinking at a level of reasoning, for wires that
// count them; 0 = it is not to think.
func Budget(effort string) int {
	return map[string]int{"low": 2048, "medium": 8192, "high": 16384}[effort]
}

// JSON encodes v, leaving <, > and & as they are.
func JSON(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Events encodes events as JSON.
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

// Output is a tool's result for a wire that accepts only text, which must not be empty, and that
// has no flag for failed tools.
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

// Given reverses Output: the result's text, and whether the tool failed.
func Given(output string) (text string, isError bool) { return strings.CutPrefix(output, failed) }

// DataURL is an image as a data URL.
func DataURL(p *llm.Image) string {
	return "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
