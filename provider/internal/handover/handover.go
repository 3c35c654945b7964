package handover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// NoResult is what the model is told of a call that has no result.
const NoResult = "No result provided"

// Rules is what a wire demands.
type Rules struct {
	MaxID int // of a tool call's id, in bytes; letters, digits, _ and - are legal in it
}

// Transcript returns the messages as the target may be told them, or an error if
// they cannot be told at all. Its tool messages hold results only; a message
// without parts does not occur. The request is not changed.
func Transcript(request llm.Request, rules Rules) ([]llm.Message, error) {
	if len(request.Messages) == 0 {
		return nil, errors.New("there are no messages")
	}
	h := &hand{request: request, rules: rules, used: map[string]bool{}, open: map[string][]*call{}}
	for i, m := range request.Messages {
		if err := h.message(m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	out := h.told()
	if len(out) == 0 {
		return nil, errors.New("there is nothing in the messages")
	}
	return out, nil
}

// hand is a transcript in the making.
type hand struct {
	request llm.Request
	rules   Rules
	turns   []turn
	used    map[string]bool
	open    map[string][]*call // by the id that it was made with
}

// turn is a message and the calls in it.
type turn struct {
	message llm.Message
	calls   []*call
}

type call struct {
	id, name string
	result   *llm.ToolResult
}

func (h *hand) message(m llm.Message) error {
	t := turn{message: llm.Message{Role: m.Role, Model: m.Model}}
	if m.Role == llm.RoleTool {
		t.message.Role = llm.RoleUser // of what is not a result: pictures
	}
	foreign := m.Model != h.request.Model
	for _, c := range m.Calls() {
		delete(h.open, c.ID) // an id that is used again no longer means the earlier call
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			made, err := h.call(*p.Call)
			if err != nil {
				return err
			}
			t.calls = append(t.calls, made)
			p.Call = &llm.ToolCall{ID: made.id, Name: made.name, Args: argsOf(*p.Call)}
		case p.Result != nil:
			h.result(*p.Result)
			continue
		case p.Thinking != nil && (foreign || p.Thinking.Signature == "" && p.Thinking.Redacted == ""):
			continue
		case p.Image != nil:
			if len(p.Image.Data) == 0 || p.Image.MediaType == "" {
				return errors.New("a picture without data or media type")
			}
		case p.Thinking == nil && strings.TrimSpace(p.Text) == "":
			continue
		}
		p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
		t.message.Parts = append(t.message.Parts, p)
	}
	if len(t.message.Parts) > 0 {
		h.turns = append(h.turns, t)
	}
	return nil
}

func (h *hand) call(made llm.ToolCall) (*call, error) {
	if made.Name == "" {
		return nil, errors.New("a tool call without a name")
	}
	if !IsObject(argsOf(made)) {
		return nil, fmt.Errorf("the arguments of tool call %s are not a JSON object", made.Name)
	}
	c := &call{id: h.id(made.ID), name: made.Name}
	h.open[made.ID] = append(h.open[made.ID], c)
	return c, nil
}

// result gives r to the latest calls of its id, the first of them that waits. A
// result that nobody asked for is dropped.
func (h *hand) result(r llm.ToolResult) {
	for _, c := range h.open[r.CallID] {
		if c.result == nil {
			c.result = &llm.ToolResult{CallID: c.id, Name: c.name, Text: strings.ToValidUTF8(r.Text, "\uFFFD"), IsError: r.IsError}
			return
		}
	}
}

// id is a legal id, used by no other call, for a call that was made as raw.
func (h *hand) id(raw string) string {
	id := strings.Map(legal, raw)
	id = id[:min(len(id), h.rules.MaxID)]
	for n := 0; id == "" || h.used[id]; n++ {
		id = h.hashed(raw, n)
	}
	h.used[id] = true
	return id
}

func (h *hand) hashed(raw string, n int) string {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s\x00%d\x00%d", raw, n, len(h.used))
	tail := fmt.Sprintf("_%08x", sum.Sum32())
	head := strings.Map(legal, raw)
	if head == "" {
		head = "call"
	}
	return head[:min(len(head), h.rules.MaxID-len(tail))] + tail
}

func legal(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}

// told writes the turns down, each followed by the results of its calls.
func (h *hand) told() []llm.Message {
	var out []llm.Message
	for _, t := range h.turns {
		out = append(out, t.message)
		if len(t.calls) == 0 {
			continue
		}
		results := llm.Message{Role: llm.RoleTool}
		for _, c := range t.calls {
			if c.result == nil {
				c.result = &llm.ToolResult{CallID: c.id, Name: c.name, Text: NoResult, IsError: true}
			}
			results.Parts = append(results.Parts, llm.Part{Result: c.result})
		}
		out = append(out, results)
	}
	return out
}

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

// Schema is t's schema, that of any object if it has none; an error if it is no
// JSON object or the tool has no name.
func Schema(t llm.Tool) (json.RawMessage, error) {
	switch {
	case t.Name == "":
		return nil, errors.New("a tool without a name")
	case len(bytes.TrimSpace(t.Schema)) == 0:
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	case !IsObject(t.Schema):
		return nil, fmt.Errorf("the schema of tool %s is not a JSON object", t.Name)
	}
	return bytes.ToValidUTF8(t.Schema, []byte("\uFFFD")), nil
}

// WireModel is full without the entry's name before the slash.
func WireModel(entry, full string) string { return strings.TrimPrefix(full, entry+"/") }

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
