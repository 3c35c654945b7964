package responses

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// item is what has come so far of one item of the output.
type item struct {
	index int             // on the wire
	call  bool            // it is a function call
	args  strings.Builder // of the function call
	said  bool            // text has come or, for reasoning, its summary
	part  part            // for reasoning: the last part that came
	done  bool
}

// part is a position within reasoning.
type part struct {
	Summary int `json:"summary_index"`
	Content int `json:"content_index"`
}

type wireItem struct {
	Type string `json:"type"`
	proof
	CallID  string     `json:"call_id"`
	Name    string     `json:"name"`
	Args    string     `json:"arguments"`
	Content []wireText `json:"content"`
	Summary []wireText `json:"summary"`
}

type wireText struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// add begins an item.
func (s *stream) add(deltas []llm.Delta) ([]llm.Delta, error) {
	w, err := s.item()
	if err != nil {
		return nil, err
	}
	index := s.event.Index
	if s.items[index] != nil {
		return nil, wire.Malformed("item %d begins twice", index)
	}
	it := &item{index: index, call: w.Type == "function_call"}
	s.items[index] = it
	switch {
	case !it.call:
		return deltas, nil
	case w.Name == "":
		return nil, wire.Malformed("a tool call without a name")
	}
	s.calls++
	id := cmp.Or(w.CallID, w.ID)
	if id == "" {
		id = s.newID()
	}
	return append(deltas, llm.Delta{Kind: llm.DeltaCall, Index: index, CallID: id, Name: w.Name}), nil
}

// item decodes the item of an event. Of an unknown type only the type is read.
func (s *stream) item() (wireItem, error) {
	var w wireItem
	if len(s.event.Item) == 0 {
		return w, nil
	}
	err := json.Unmarshal(s.event.Item, &w)
	switch w.Type {
	case "function_call", "message", "reasoning":
		if err != nil {
			return w, wire.Malformed("an item of type %s: %v", w.Type, err)
		}
		return w, nil
	}
	return wireItem{}, nil
}

// at is the item that an event belongs to.
func (s *stream) at() (*item, error) {
	if it := s.items[s.event.Index]; it != nil {
		return it, nil
	}
	return nil, wire.Malformed("%s for item %d, which never began", s.event.Type, s.event.Index)
}

// open is the item that an event continues.
func (s *stream) open() (*item, error) {
	it, err := s.at()
	if err == nil && it.done {
		return nil, wire.Malformed("%s for item %d, which has ended", s.event.Type, s.event.Index)
	}
	return it, err
}

func (s *stream) text(deltas []llm.Delta) ([]llm.Delta, error) {
	it, err := s.open()
	if err != nil || s.event.Delta == "" {
		return deltas, err
	}
	it.said = true
	return append(deltas, llm.Delta{Kind: llm.DeltaText, Text: s.event.Delta}), nil
}

func (s *stream) refusal(deltas []llm.Delta) ([]llm.Delta, error) {
	s.refused = true
	return s.text(deltas)
}

// thought continues reasoning, with a blank line between its parts.
func (s *stream) thought(deltas []llm.Delta) ([]llm.Delta, error) {
	it, err := s.open()
	text := s.event.Delta
	if err != nil || text == "" {
		return deltas, err
	}
	if it.said && it.part != s.event.part {
		text = "\n\n" + text
	}
	it.said, it.part = true, s.event.part
	return append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: text}), nil
}

func (s *stream) args(deltas []llm.Delta) ([]llm.Delta, error) {
	it, err := s.open()
	if err != nil || !it.call || s.event.Delta == "" {
		return deltas, err
	}
	return it.tell(s.event.Delta, deltas), nil
}

func (s *stream) argsDone(deltas []llm.Delta) ([]llm.Delta, error) {
	it, err := s.at()
	if err != nil || !it.call {
		return deltas, err
	}
	return it.whole(s.event.Args, deltas)
}

func (it *item) tell(args string, deltas []llm.Delta) []llm.Delta {
	it.args.WriteString(args)
	return append(deltas, llm.Delta{Kind: llm.DeltaArgs, Index: it.index, Text: args})
}

// whole appends the rest of a call's arguments, if some have not come yet.
func (it *item) whole(args string, deltas []llm.Delta) ([]llm.Delta, error) {
	rest, ok := strings.CutPrefix(args, it.args.String())
	switch {
	case args == "", rest == "" && ok: // left out, or complete already
		return deltas, nil
	case !ok:
		return nil, wire.Malformed("the arguments of tool call %d are not those of its deltas", it.index)
	}
	return it.tell(rest, deltas), nil
}

// itemDone ends an item, and appends what did not come as deltas.
func (s *stream) itemDone(deltas []llm.Delta) ([]llm.Delta, error) {
	it, err := s.open()
	if err != nil {
		return nil, err
	}
	it.done = true
	w, err := s.item()
	switch {
	case err != nil:
		return nil, err
	case it.call:
		return it.whole(w.Args, deltas)
	case w.Type == "message":
		return s.messageDone(it, w, deltas), nil
	case w.Type == "reasoning":
		return it.reasoningDone(w, deltas), nil
	}
	return deltas, nil
}

func (s *stream) messageDone(it *item, w wireItem, deltas []llm.Delta) []llm.Delta {
	for _, c := range w.Content {
		s.refused = s.refused || c.Refusal != ""
		if text := c.Text + c.Refusal; text != "" && !it.said {
			deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: text})
		}
	}
	return deltas
}

func (it *item) reasoningDone(w wireItem, deltas []llm.Delta) []llm.Delta {
	d := llm.Delta{Kind: llm.DeltaThinking, Signature: w.signature()}
	if !it.said {
		var summary []string
		for _, c := range w.Summary {
			summary = append(summary, c.Text)
		}
		d.Text = strings.Join(summary, "\n\n")
	}
	if d.Text == "" && d.Signature == "" {
		return deltas
	}
	return append(deltas, d)
}
