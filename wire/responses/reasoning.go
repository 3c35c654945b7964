package responses

import (
	"encoding/json"
	"slices"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// proof is what a reasoning item needs to be sent back. Encoded as JSON it is the signature of an
// llm.Thinking, which is opaque to everybody else.
type proof struct {
	ID        string `json:"id,omitempty"`
	Encrypted string `json:"encrypted_content"`
}

type reasoningItem struct {
	Type    string   `json:"type"`
	Summary []string `json:"summary"` // always empty: summaries are for people and need not be sent back
	proof
}

// reason asks for reasoning, in a form that can be sent back.
func (r *wireRequest) reason(effort string) {
	if effort != "" {
		r.Reasoning = &wireReasoning{Effort: effort, Summary: "auto"}
	}
	reasons := func(item any) bool { _, ok := item.(reasoningItem); return ok }
	if effort != "" || slices.ContainsFunc(r.Input, reasons) {
		r.Include = []string{"reasoning.encrypted_content"}
	}
}

// signature is empty if nothing can be sent back.
func (p proof) signature() string {
	if p.Encrypted == "" {
		return ""
	}
	text, err := wire.JSON(p)
	if err != nil {
		return ""
	}
	return string(text)
}

// reasoningOf is the item for t; false if t came over another wire.
func reasoningOf(t *llm.Thinking) (reasoningItem, bool) {
	var p proof
	if json.Unmarshal([]byte(t.Signature), &p) != nil || p.Encrypted == "" {
		return reasoningItem{}, false
	}
	return reasoningItem{Type: "reasoning", Summary: []string{}, proof: p}, true
}
