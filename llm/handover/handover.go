package handover

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// What stands in the place of what is not there.
const (
	noResult       = "No result provided"
	picture        = "(image omitted: model does not support images)"
	toolPicture    = "(tool image omitted: model does not support images)"
	openingMessage = "(The conversation goes on.)"
)

// Target is what is asked, and what its wire demands.
type Target struct {
	Model     string // full name; what another model said is foreign to it
	MaxID     int    // of a tool call's id, in bytes, at least 16; letters, digits, _ and - are legal in it
	NoImages  bool   // the model takes no pictures
	Alternate bool   // the user speaks first and the two take turns; results count as the user's
}

// Told is a transcript as the target may be told it.
type Told struct {
	// Messages are never empty, and have no message without parts. Those of RoleTool
	// hold results only; where the target wants turns, results stand at the head of
	// the user's messages.
	Messages []llm.Message
	// Repairs is what was changed, one line per kind, in the order of first need.
	Repairs []llm.Repair
}

// Transcript returns messages as the target may be told them, or an error if they
// cannot be told at all. What it is given stays as it is.
func Transcript(messages []llm.Message, to Target) (Told, error) {
	if len(messages) == 0 {
		return Told{}, errors.New("there are no messages")
	}
	h := &hand{target: to, ids: newIDs(to.MaxID), open: map[string][]*call{}}
	for i, m := range messages {
		if err := h.message(m); err != nil {
			return Told{}, fmt.Errorf("message %d: %w", i, err)
		}
	}
	out := h.told()
	if len(out) == 0 {
		return Told{}, errors.New("there is nothing in the messages")
	}
	if to.Alternate {
		out = h.takeTurns(out)
	}
	return Told{out, h.repairs}, nil
}

// hand is a transcript in the making.
type hand struct {
	target  Target
	turns   []turn
	ids     *ids
	open    map[string][]*call // by the id that it was made with
	repairs []llm.Repair
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

// repaired counts a repair.
func (h *hand) repaired(kind llm.RepairKind) {
	for i := range h.repairs {
		if h.repairs[i].Kind == kind {
			h.repairs[i].Count++
			return
		}
	}
	h.repairs = append(h.repairs, llm.Repair{Kind: kind, Count: 1})
}

func (h *hand) message(m llm.Message) error {
	t := turn{message: llm.Message{Role: m.Role, Model: m.Model}}
	if m.Role == llm.RoleTool {
		t.message.Role = llm.RoleUser // of what is not a result: pictures
	}
	for _, p := range m.Parts {
		if p.Call != nil {
			delete(h.open, p.Call.ID) // an id that is used again no longer means the earlier call
		}
	}
	for _, p := range m.Parts {
		if err := h.part(&t, m, p); err != nil {
			return err
		}
	}
	if len(t.message.Parts) > 0 {
		h.turns = append(h.turns, t)
	}
	return nil
}

// part takes one part of m over into t, changed as it needs to be.
func (h *hand) part(t *turn, m llm.Message, p llm.Part) error {
	foreign := m.Model != h.target.Model
	switch {
	case p.Call != nil && m.Role != llm.RoleAssistant:
		return fmt.Errorf("a tool call in a message of role %s", m.Role)
	case p.Call != nil:
		made, err := h.call(*p.Call, foreign)
		if err != nil {
			return err
		}
		t.calls = append(t.calls, made.call)
		p = llm.Part{Call: made.told}
	case p.Result != nil:
		h.result(*p.Result)
		return nil
	case p.Thinking != nil:
		if foreign {
			h.repaired(llm.RepairThinking)
			return nil
		}
		if p.Thinking.Signature == "" && p.Thinking.Redacted == "" {
			return nil // no wire takes its own reasoning back without proof
		}
		p = llm.Part{Thinking: p.Thinking}
	case p.Image != nil:
		if len(p.Image.Data) == 0 || p.Image.MediaType == "" {
			return errors.New("a picture without data or media type")
		}
		p = llm.Part{Image: p.Image}
		if h.target.NoImages || m.Role == llm.RoleAssistant { // no wire takes a model's pictures back
			h.omit(t, m.Role)
			return nil
		}
	case strings.TrimSpace(p.Text) == "":
		h.repaired(llm.RepairEmpty)
		return nil
	default:
		p = llm.Part{Text: h.valid(p.Text)}
	}
	t.message.Parts = append(t.message.Parts, p)
	return nil
}

// omit puts a sentence in the place of pictures; one sentence for several in a row.
func (h *hand) omit(t *turn, by llm.Role) {
	h.repaired(llm.RepairImage)
	sentence := picture
	if by == llm.RoleTool {
		sentence = toolPicture
	}
	if n := len(t.message.Parts); n == 0 || t.message.Parts[n-1].Text != sentence {
		t.message.Parts = append(t.message.Parts, llm.Part{Text: sentence})
	}
}

// valid is text with what is not UTF-8 replaced.
func (h *hand) valid(text string) string {
	clean := strings.ToValidUTF8(text, "\uFFFD")
	if clean != text {
		h.repaired(llm.RepairUTF8)
	}
	return clean
}

// madeCall is a call as we keep it and as the target is told it.
type madeCall struct {
	call *call
	told *llm.ToolCall
}

func (h *hand) call(made llm.ToolCall, foreign bool) (madeCall, error) {
	if made.Name == "" {
		return madeCall{}, errors.New("a tool call without a name")
	}
	args := argsOf(made)
	if !IsObject(args) {
		return madeCall{}, fmt.Errorf("the arguments of tool call %s are not a JSON object", made.Name)
	}
	c := &call{id: h.ids.legal(made.ID), name: made.Name}
	if c.id != made.ID {
		h.repaired(llm.RepairID)
	}
	told := &llm.ToolCall{ID: c.id, Name: c.name, Args: args, Signature: made.Signature}
	if foreign && told.Signature != "" {
		told.Signature = ""
		h.repaired(llm.RepairSignature)
	}
	h.open[made.ID] = append(h.open[made.ID], c)
	return madeCall{c, told}, nil
}

// result gives r to the latest calls of its id, the first of them that waits. A
// result that nobody asked for is left out.
func (h *hand) result(r llm.ToolResult) {
	for _, c := range h.open[r.CallID] {
		if c.result == nil {
			c.result = &llm.ToolResult{CallID: c.id, Name: c.name, Text: h.valid(r.Text), IsError: r.IsError}
			return
		}
	}
	h.repaired(llm.RepairResultOrphaned)
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
				c.result = &llm.ToolResult{CallID: c.id, Name: c.name, Text: noResult, IsError: true}
				h.repaired(llm.RepairResultMissing)
			}
			results.Parts = append(results.Parts, llm.Part{Result: c.result})
		}
		out = append(out, results)
	}
	return out
}
