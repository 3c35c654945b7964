package handover

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// The texts that stand for what is missing or left out.
const (
	noResult       = "No result provided"
	picture        = "(image omitted: model does not support images)"
	toolPicture    = "(tool image omitted: model does not support images)"
	openingMessage = "(The conversation goes on.)"
)

// Target is the model that is asked, and what its wire demands.
type Target struct {
	Model     string // full name; messages of any other model are foreign to it
	MaxID     int    // the longest id of a tool call, in bytes, at least 16; ids consist of letters, digits, _ and -
	NoImages  bool   // the model accepts no images
	Alternate bool   // the user speaks first, and the two sides take turns; results count as the user's
}

// Told is a transcript that the target accepts.
type Told struct {
	// Messages are never empty, and neither is any message. Those of RoleTool hold results only;
	// if the target wants turns, results stand first in a user's message instead.
	Messages []llm.Message
	// Repairs lists what was changed: one entry per kind, in the order of the first change of each
	// kind.
	Repairs []llm.Repair
}

// Transcript returns messages in a form that the target accepts, or an error if there is none. It
// does not change messages.
func Transcript(messages []llm.Message, to Target) (Told, error) {
	if len(messages) == 0 {
		return Told{}, errors.New("there are no messages")
	}
	h := &hand{target: to, ids: ids{most: max(to.MaxID, leastID)}}
	for i, m := range messages {
		if err := h.message(m); err != nil {
			return Told{}, fmt.Errorf("message %d: %w", i, err)
		}
	}
	out := h.told()
	if len(out) == 0 {
		return Told{}, errors.New("the messages are empty")
	}
	if to.Alternate {
		out = h.takeTurns(out)
	}
	return Told{out, h.repairs}, nil
}

// hand builds the transcript.
type hand struct {
	target  Target
	turns   []turn
	ids     ids
	open    map[string][]*call // by the id that the model gave it; nil before the first call
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
		t.message.Role = llm.RoleUser // everything in it but results, such as images, is the user's
	}
	for _, p := range m.Parts {
		if p.Call != nil {
			delete(h.open, p.Call.ID) // a repeated id refers only to the later call
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

// part adds one part of m to t, changed where that is necessary.
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
			return nil // no wire accepts a model's own reasoning back without its signature
		}
		p = llm.Part{Thinking: p.Thinking}
	case p.Image != nil:
		if len(p.Image.Data) == 0 || p.Image.MediaType == "" {
			return errors.New("a picture without data or media type")
		}
		p = llm.Part{Image: p.Image}
		if h.target.NoImages || m.Role == llm.RoleAssistant { // no wire accepts a model's images
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

// omit replaces images with a sentence; several in a row get only one.
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

// valid is text with invalid UTF-8 replaced.
func (h *hand) valid(text string) string {
	clean := strings.ToValidUTF8(text, "\uFFFD")
	if clean != text {
		h.repaired(llm.RepairUTF8)
	}
	return clean
}

// madeCall is a call, with the id that the model gave it and the id for the target.
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
	if h.open == nil {
		h.open = map[string][]*call{}
	}
	h.open[made.ID] = append(h.open[made.ID], c)
	return madeCall{c, told}, nil
}

// result assigns r to the latest calls with its id, and there to the first one without a result. A
// result without a call is left out.
func (h *hand) result(r llm.ToolResult) {
	for _, c := range h.open[r.CallID] {
		if c.result == nil {
			c.result = &llm.ToolResult{CallID: c.id, Name: c.name, Text: h.valid(r.Text), IsError: r.IsError}
			return
		}
	}
	h.repaired(llm.RepairResultOrphaned)
}

// told lists the messages of all turns, each followed by the results of its calls.
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
