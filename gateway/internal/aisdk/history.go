package aisdk

import (
	"encoding/json"
	"time"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// UIMessage is a message in the form of the client's useChat.
type UIMessage struct {
	ID       string    `json:"id"`
	Role     string    `json:"role" enum:"user,assistant"`
	Parts    []UIPart  `json:"parts"`
	Metadata *Metadata `json:"metadata,omitempty"`
}

// UIPart is a part of a message, of one of the AI SDK's types.
type UIPart struct {
	Type     string          `json:"type" enum:"text,reasoning,step-start,dynamic-tool,data-recovery"`
	Text     string          `json:"text,omitempty"`
	State    string          `json:"state,omitempty" enum:"done,input-available,output-available,output-error"`
	CallID   string          `json:"toolCallId,omitempty"`
	ToolName string          `json:"toolName,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Output   *string         `json:"output,omitempty"`
	Error    string          `json:"errorText,omitempty"`
	Executed bool            `json:"providerExecuted,omitempty"`
	ID       string          `json:"id,omitempty"`
	Data     *tell.Recovery  `json:"data,omitempty"`
}

// History is a run as messages: what the user said, and what was answered. The answer of a run in
// progress is left to the stream.
func History(r *recovery.Run, now time.Time) []UIMessage {
	said := r.Messages[r.Carried:]
	var list []UIMessage
	for len(said) > 0 && said[0].Role == llm.RoleUser {
		if text := said[0].Text(); text != "" {
			list = append(list, UIMessage{ID: r.ID + "-user", Role: "user", Parts: []UIPart{{Type: "text", Text: text, State: "done"}}})
		}
		said = said[1:]
	}
	if !r.Settled() {
		return list
	}
	answer := UIMessage{ID: r.ID, Role: "assistant", Metadata: &Metadata{
		Run: r.ID, Model: r.Model, Status: r.Status, Tokens: r.Usage.Total(), RecoverySuggestion: r.OpenSuggestion(now),
	}}
	for _, m := range said {
		answer.add(m)
	}
	if a := r.Attempt; a != nil && a.Text != "" && r.Status != recovery.StatusCompleted {
		answer.Parts = append(answer.Parts, UIPart{Type: "step-start"}, UIPart{Type: "text", Text: a.Text, State: "done"})
	}
	if v := tell.Look(r, now, recovery.HeardNothing); v.Phase != "" {
		answer.Parts = append(answer.Parts, UIPart{Type: "data-recovery", ID: r.ID + "-recovery-1", Data: &v})
	}
	if len(answer.Parts) > 0 {
		list = append(list, answer)
	}
	return list
}

// add adds what the model said, or what a tool returned to it.
func (u *UIMessage) add(m llm.Message) {
	if m.Role == llm.RoleAssistant {
		u.Parts = append(u.Parts, UIPart{Type: "step-start"})
	}
	for _, p := range m.Parts {
		switch {
		case p.Thinking != nil && p.Thinking.Text != "":
			u.Parts = append(u.Parts, UIPart{Type: "reasoning", Text: p.Thinking.Text, State: "done"})
		case p.Call != nil:
			u.Parts = append(u.Parts, UIPart{Type: "dynamic-tool", State: "input-available", CallID: p.Call.ID, ToolName: p.Call.Name, Input: args(*p.Call), Executed: true})
		case p.Result != nil:
			u.returned(*p.Result)
		case p.Text != "" && m.Role == llm.RoleAssistant:
			u.Parts = append(u.Parts, UIPart{Type: "text", Text: p.Text, State: "done"})
		}
	}
}

// returned adds a result to its call.
func (u *UIMessage) returned(r llm.ToolResult) {
	for i := len(u.Parts) - 1; i >= 0; i-- {
		p := &u.Parts[i]
		if p.CallID != r.CallID {
			continue
		}
		p.State, p.Output = "output-available", &r.Text
		if r.IsError {
			p.State, p.Output, p.Error = "output-error", nil, orSome(r.Text)
		}
		return
	}
}
