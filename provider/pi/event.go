package pi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// eventKind is what a Pi's event means for a call that reads a turn.
type eventKind uint8

const (
	noise     eventKind = iota // Pi is alive, and nothing else is known
	goesOn                     // Pi's agent, or a turn of it, begins
	says                       // the model's message goes on: delta
	begins                     // the model's message begins
	ends                       // … is complete, or has failed: message, and what was seen of its requests
	answers                    // a provider begins to answer, which Pi does not report: text is the request's id
	sleeps                     // Pi retries by itself after a pause: delay
	shortens                   // Pi begins to compact the conversation: reason
	shortened                  // … has done so, or could not: again
	stopped                    // Pi's agent has ended: again
	settled                    // nothing more follows
	refused                    // Pi does not accept the prompt: text
)

// event is one of Pi's lines that belongs to the turn, without what it repeats.
type event struct {
	kind    eventKind
	delta   llm.Delta
	message *message
	seen    observedRequests
	delay   failure.Millis
	reason  string
	text    string
	again   bool // Pi goes on by itself
	bytes   int  // bytes of its line that are kept
}

// message is a message as Pi writes it.
type message struct {
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"` // a list of parts; a user's may be text
	Provider     string          `json:"provider"`
	Usage        usage           `json:"usage"`
	StopReason   string          `json:"stopReason"`
	ErrorMessage string          `json:"errorMessage"`
	ResponseID   string          `json:"responseId"`
	ToolCallID   string          `json:"toolCallId"`
	IsError      bool            `json:"isError"`
}

type usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
}

func (u usage) tokens() llm.Usage {
	return llm.Usage{InputTokens: max(0, u.Input), OutputTokens: max(0, u.Output), CacheReadTokens: max(0, u.CacheRead), CacheWriteTokens: max(0, u.CacheWrite)}
}

// part is a piece of a message or of what a tool returns.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
	ID   string `json:"id"`
	Name string `json:"name"`

	Arguments json.RawMessage `json:"arguments"`
}

func partsOf(content json.RawMessage) []part {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []part{{Type: "text", Text: text}}
	}
	var parts []part
	_ = json.Unmarshal(content, &parts) // what is not a list has no parts
	return parts
}

func (m *message) parts() []part { return partsOf(m.Content) }

func (m *message) calls() []part {
	var calls []part
	for _, p := range m.parts() {
		if p.Type == "toolCall" {
			calls = append(calls, p)
		}
	}
	return calls
}

func (m *message) text() string { return textOf(m.Content) }

// textOf joins the text of a message or of a tool's result.
func textOf(content json.RawMessage) string {
	var b strings.Builder
	for _, p := range partsOf(content) {
		switch p.Type {
		case "text":
			b.WriteString(p.Text)
		case "image":
			b.WriteString("[a picture]")
		}
	}
	return b.String()
}

// line is one of Pi's lines, decoded as far as every kind of line needs it.
type line struct {
	kind    string
	members map[string]json.RawMessage
}

// wanted are the members that are read, of any line.
var wanted = map[string]bool{
	"id": true, "success": true, "error": true, "data": true, "method": true, "message": true, "assistantMessageEvent": true,
	"toolCallId": true, "partialResult": true, "result": true, "isError": true, "delayMs": true, "errorMessage": true,
	"reason": true, "willRetry": true,
}

func readLine(b []byte) (line, error) {
	l := line{members: map[string]json.RawMessage{}}
	err := members(b, func(key string, value json.RawMessage) {
		switch {
		case key == "type":
			l.kind = textMember(value)
		case wanted[key]:
			l.members[key] = value
		}
	})
	return l, err
}

func (l line) string(key string) string { return textMember(l.members[key]) }

func textMember(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text) // "" = it is not there
	return text
}

func (l line) bool(key string) bool { return string(l.members[key]) == "true" }

// event is what the line says about the turn; the error is for a line that is broken.
func (l line) event() (event, error) {
	switch l.kind {
	case "agent_start", "turn_start":
		return event{kind: goesOn}, nil
	case "message_start":
		if role(l.members["message"]) == "assistant" {
			return event{kind: begins}, nil
		}
	case "message_end":
		return l.ended()
	case "message_update":
		return l.update()
	case "auto_retry_start":
		var delay failure.Millis
		err := json.Unmarshal(l.members["delayMs"], &delay)
		return event{kind: sleeps, delay: max(0, delay)}, l.broken(err)
	case "compaction_start":
		return event{kind: shortens, reason: l.string("reason")}, nil
	case "compaction_end":
		return event{kind: shortened, again: l.bool("willRetry")}, nil
	case "agent_end":
		return event{kind: stopped, again: l.bool("willRetry")}, nil
	case "agent_settled":
		return event{kind: settled}, nil
	}
	return event{kind: noise}, nil
}

// role is the role of a message, found without reading the rest.
func role(message json.RawMessage) (role string) {
	_ = members(message, func(key string, value json.RawMessage) {
		if key == "role" {
			role = textMember(value)
		}
	})
	return role
}

func (l line) ended() (event, error) {
	raw := l.members["message"]
	if role(raw) != "assistant" {
		return event{kind: noise}, nil
	}
	m := &message{}
	err := json.Unmarshal(raw, m)
	return event{kind: ends, message: m, bytes: len(raw)}, l.broken(err)
}

func (l line) broken(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pi's %s cannot be read: %w", l.kind, err)
}

// update reads a message_update. Old versions repeat the whole message twice in each; of that, only
// the call that begins is read, which they name nowhere else.
func (l line) update() (event, error) {
	said := map[string]json.RawMessage{}
	if err := members(l.members["assistantMessageEvent"], func(key string, value json.RawMessage) { said[key] = value }); err != nil {
		return event{}, l.broken(err)
	}
	d := llm.Delta{Text: textMember(said["delta"])}
	if raw, ok := said["contentIndex"]; ok {
		if err := json.Unmarshal(raw, &d.Index); err != nil {
			return event{}, l.broken(err)
		}
	}
	switch textMember(said["type"]) {
	case "text_delta":
		d.Kind = llm.DeltaText
	case "thinking_delta":
		d.Kind = llm.DeltaThinking
	case "toolcall_delta":
		d.Kind = llm.DeltaArgs
	case "toolcall_start":
		d.Kind, d.CallID, d.Name = llm.DeltaCall, textMember(said["id"]), textMember(said["toolName"])
		if d.CallID == "" {
			d.CallID, d.Name = begunCall(said["partial"], d.Index)
		}
	case "toolcall_end":
		return event{kind: says, delta: wholeCall(said["toolCall"], d.Index)}, nil
	default:
		return event{kind: noise}, nil
	}
	return event{kind: says, delta: d, bytes: len(d.Text)}, nil
}

func begunCall(partial json.RawMessage, index int) (id, name string) {
	m := &message{}
	if json.Unmarshal(partial, m) != nil {
		return "", ""
	}
	if parts := m.parts(); index >= 0 && index < len(parts) {
		return parts[index].ID, parts[index].Name
	}
	return "", ""
}

// wholeCall is a call with all its arguments; the reader takes what it lacks.
func wholeCall(raw json.RawMessage, index int) llm.Delta {
	var call part
	_ = json.Unmarshal(raw, &call) // a call without an id is none, which the reader notices
	return llm.Delta{Kind: llm.DeltaCall, Index: index, CallID: call.ID, Name: call.Name, Text: string(call.Arguments)}
}
