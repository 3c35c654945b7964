package faultlab

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// The rules in these files are those of the real services, in their words, as far as a transcript
// can break them. The first that is broken is reported.

var (
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	anthropicTool = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	openaiTool    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

const openaiMaxID = 40

// complaint is a broken rule: where, and what.
type complaint struct {
	param, code, message string
}

func complain(format string, args ...any) *complaint {
	return &complaint{message: fmt.Sprintf(format, args...)}
}

// first returns the first rule broken.
func first(rules ...func() *complaint) *complaint {
	for _, rule := range rules {
		if c := rule(); c != nil {
			return c
		}
	}
	return nil
}

// content is a message's content: a string, or a list of blocks.
type content struct {
	present bool
	blocks  []block
}

// block is one part of a content, in Messages or in Chat Completions.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Signature *string         `json:"signature"`
	Data      string          `json:"data"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	c.present = true
	var text string
	if json.Unmarshal(data, &text) == nil {
		c.blocks = []block{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, &c.blocks)
}

// ids lists what pick finds in the blocks of a type.
func (c content) ids(kind string, pick func(block) string) []string {
	var ids []string
	for _, b := range c.blocks {
		if b.Type == kind {
			ids = append(ids, pick(b))
		}
	}
	return ids
}

func (c content) uses() []string {
	return c.ids("tool_use", func(b block) string { return b.ID })
}

func (c content) results() []string {
	return c.ids("tool_result", func(b block) string { return b.ToolUseID })
}
