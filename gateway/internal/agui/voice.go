package agui

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// event is an event of the protocol as JSON; a type omits the fields that it does not have.
type event struct {
	Type         string         `json:"type"`
	ThreadID     string         `json:"threadId,omitempty"`
	RunID        string         `json:"runId,omitempty"`
	Protocol     string         `json:"protocolVersion,omitempty"`
	MessageID    string         `json:"messageId,omitempty"`
	Role         string         `json:"role,omitempty"`
	Delta        string         `json:"delta,omitempty"`
	CallID       string         `json:"toolCallId,omitempty"`
	CallName     string         `json:"toolCallName,omitempty"`
	Parent       string         `json:"parentMessageId,omitempty"`
	ActivityType string         `json:"activityType,omitempty"`
	Replace      bool           `json:"replace,omitempty"`
	Content      any            `json:"content,omitempty"`
	Snapshot     map[string]any `json:"snapshot,omitempty"`
	Messages     []any          `json:"messages,omitzero"`
	Name         string         `json:"name,omitempty"`
	Value        any            `json:"value,omitempty"`
	Message      string         `json:"message,omitempty"`
	Code         string         `json:"code,omitempty"`
	Outcome      any            `json:"outcome,omitempty"`
	Result       any            `json:"result,omitempty"`
}

// message is a message that a run has said, for a snapshot of all messages.
type message struct {
	ID        string     `json:"id"`
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"toolCalls,omitempty"`
	CallID    string     `json:"toolCallId,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Voice is a tell.Listener that encodes what it is told as the protocol's server-sent events.
type Voice struct {
	out bytes.Buffer
	err error

	thread, exchange, protocol, run string
	mode                            mode
	state                           map[string]any

	before []any    // the messages before this run's
	said   []any    // this run's, except the current step's
	step   *message // the current step's message; nil = none
	part   string   // which part of it is open: "TEXT", "REASONING", or ""

	incident  int
	recovered bool
}

// New begins an exchange that streams a run to a client; run "" is none. earlier are the
// conversation's messages, for a client that asks for the current state.
func New(in *Input, run string, earlier []Message) *Voice {
	v := &Voice{thread: in.ThreadID, exchange: in.RunID, run: run, state: map[string]any{}}
	if in.Protocol != "" {
		v.protocol = "1.0"
	}
	p, _ := in.props() // they were checked before
	v.mode = p.mode
	v.say(event{Type: "RUN_STARTED", ThreadID: v.thread, RunID: v.exchange, Protocol: v.protocol})
	v.say(event{Type: "CUSTOM", Name: "mulligan", Value: map[string]string{"run": run}})
	changed := len(earlier) > 0
	for _, m := range in.Messages {
		switch {
		case len(earlier) > 0: // it gets all of them instead
		case run != "" && strings.HasPrefix(m.ID, run+"-") && m.Role != "user":
			changed = changed || m.Role != "activity" && m.Role != "reasoning" // it will be said again
		default:
			v.before = append(v.before, m.whole)
		}
	}
	for _, m := range earlier {
		v.before = append(v.before, m.whole)
	}
	if changed {
		v.snapshot()
	}
	v.inherit(in.State)
	return v
}

// inherit adopts the client's state, without what it says about an earlier recovery.
func (v *Voice) inherit(state json.RawMessage) {
	if json.Unmarshal(state, &v.state) != nil || v.state == nil {
		v.state = map[string]any{}
	}
	if _, old := v.state["recovery"]; old {
		delete(v.state, "recovery")
		v.say(event{Type: "STATE_SNAPSHOT", Snapshot: v.with(nil)})
	}
}

// with is the state with the recovery in it.
func (v *Voice) with(r *tell.Recovery) map[string]any {
	state := maps.Clone(v.state)
	state["recovery"] = r
	return state
}

// Take returns what is to be sent.
func (v *Voice) Take() ([]byte, error) {
	data := bytes.Clone(v.out.Bytes())
	v.out.Reset()
	return data, v.err
}

func (v *Voice) say(e event) {
	data, err := json.Marshal(e)
	if err != nil {
		v.err = err
		return
	}
	v.out.WriteString("data: ")
	v.out.Write(data)
	v.out.WriteString("\n\n")
}

// snapshot sends the client all messages, so that it removes any others.
func (v *Voice) snapshot() {
	all := make([]any, 0, len(v.before)+len(v.said))
	v.say(event{Type: "MESSAGES_SNAPSHOT", Messages: append(append(all, v.before...), v.said...)})
}

// Step implements tell.Listener.
func (v *Voice) Step(name string) {
	v.endStep()
	v.step = &message{ID: v.run + "-" + name, Role: "assistant"}
}

func (v *Voice) endStep() {
	v.endPart()
	if v.step != nil && (v.step.Content != "" || len(v.step.ToolCalls) > 0) {
		v.said = append(v.said, v.step)
	}
	v.step = nil
}

// Withdraw implements tell.Listener. Reasoning stays in clients that keep it apart from messages.
func (v *Voice) Withdraw() {
	v.endPart()
	v.step = nil
	v.snapshot()
}

func (v *Voice) endPart() {
	switch v.part {
	case "TEXT":
		v.say(event{Type: "TEXT_MESSAGE_END", MessageID: v.step.ID})
	case "REASONING":
		v.say(event{Type: "REASONING_MESSAGE_END", MessageID: v.step.ID + "-reasoning"})
		v.say(event{Type: "REASONING_END", MessageID: v.step.ID + "-reasoning"})
	}
	v.part = ""
}

// Thinking implements tell.Listener.
func (v *Voice) Thinking(text string) {
	id := v.step.ID + "-reasoning"
	if v.part != "REASONING" {
		v.endPart()
		v.part = "REASONING"
		v.say(event{Type: "REASONING_START", MessageID: id})
		v.say(event{Type: "REASONING_MESSAGE_START", MessageID: id, Role: "reasoning"})
	}
	v.say(event{Type: "REASONING_MESSAGE_CONTENT", MessageID: id, Delta: text})
}

// Text implements tell.Listener.
func (v *Voice) Text(text string) {
	if v.part != "TEXT" {
		v.endPart()
		v.part = "TEXT"
		v.say(event{Type: "TEXT_MESSAGE_START", MessageID: v.step.ID, Role: "assistant"})
	}
	v.step.Content += text
	v.say(event{Type: "TEXT_MESSAGE_CONTENT", MessageID: v.step.ID, Delta: text})
}

// Call implements tell.Listener.
func (v *Voice) Call(c llm.ToolCall) {
	v.endPart()
	call := toolCall{ID: c.ID, Type: "function"}
	call.Function.Name, call.Function.Arguments = c.Name, string(c.Args)
	if call.Function.Arguments == "" {
		call.Function.Arguments = "{}"
	}
	v.step.ToolCalls = append(v.step.ToolCalls, call)
	v.say(event{Type: "TOOL_CALL_START", CallID: c.ID, CallName: c.Name, Parent: v.step.ID})
	v.say(event{Type: "TOOL_CALL_ARGS", CallID: c.ID, Delta: call.Function.Arguments})
	v.say(event{Type: "TOOL_CALL_END", CallID: c.ID})
}

// Returned implements tell.Listener.
func (v *Voice) Returned(r llm.ToolResult, _ recovery.Outcome) {
	v.endStep()
	id := v.run + "-result-" + r.CallID
	v.said = append(v.said, message{ID: id, Role: "tool", Content: r.Text, CallID: r.CallID})
	v.say(event{Type: "TOOL_CALL_RESULT", MessageID: id, CallID: r.CallID, Role: "tool", Content: r.Text})
}

// Recovery implements tell.Listener.
func (v *Voice) Recovery(r tell.Recovery) {
	if v.incident == 0 || v.recovered {
		v.incident++
	}
	v.recovered = r.Phase == tell.PhaseRecovered
	v.say(event{Type: "ACTIVITY_SNAPSHOT", MessageID: v.run + "-recovery-" + strconv.Itoa(v.incident), ActivityType: "recovery", Replace: true, Content: r})
	v.say(event{Type: "STATE_SNAPSHOT", Snapshot: v.with(&r)})
}

// Passing implements tell.Listener.
func (v *Voice) Passing(r tell.Recovery) {
	v.say(event{Type: "CUSTOM", Name: "recovery-status", Value: r})
}

// Notice implements tell.Listener.
func (v *Voice) Notice(line string) {
	v.Passing(tell.Recovery{Run: v.run, Phase: tell.PhaseWaiting, Text: line})
}

// End implements tell.Listener.
func (v *Voice) End(e tell.End) {
	v.endStep()
	finished := event{Type: "RUN_FINISHED", ThreadID: v.thread, RunID: v.exchange}
	meta := map[string]any{"run": e.Run, "model": e.Model, "status": e.Status, "tokens": e.Usage.Total()}
	switch {
	case e.Status == recovery.StatusCancelled && v.protocol != "": // older clients do not know this outcome
		finished.Outcome = map[string]string{"type": "cancelled"}
	case e.Suggestion != nil && v.mode == modeInterrupt:
		finished.Outcome = map[string]any{"type": "interrupt", "interrupts": []any{interrupt(e)}}
	case e.Suggestion == nil && e.Status == recovery.StatusFailed:
		failed := event{Type: "RUN_ERROR", Message: e.Line}
		if e.Failure != nil {
			failed.Code = string(e.Failure.Code)
		}
		if failed.Message == "" {
			failed.Message = "The run failed."
		}
		v.say(failed)
		return
	default:
		if e.Suggestion != nil {
			meta["recoverySuggestion"] = e.Suggestion
		}
		finished.Result = map[string]any{"meta": meta}
	}
	v.say(finished)
}

// interrupt is a suggestion as a question with a form for its answer.
func interrupt(e tell.End) map[string]any {
	s := e.Suggestion
	var choices []any
	for _, b := range s.Actions {
		if b.Effect == recovery.EffectRunner {
			choices = append(choices, map[string]string{"const": b.ID, "title": b.Label})
		}
	}
	action := map[string]any{"type": "string"}
	if len(choices) > 0 {
		action["oneOf"] = choices
	}
	return map[string]any{
		"id": s.ID, "reason": "recovery:" + string(s.Error.Kind), "message": e.Line, "expiresAt": s.ExpiresAt,
		"responseSchema": map[string]any{
			"type": "object", "required": []string{"action"},
			"properties": map[string]any{"action": action, "model": map[string]string{"type": "string"}},
		},
		"metadata": map[string]any{"recoverySuggestion": s},
	}
}

// Nothing ends an exchange about a conversation without a run.
func (v *Voice) Nothing() {
	v.say(event{Type: "RUN_FINISHED", ThreadID: v.thread, RunID: v.exchange})
}

// Broke ends the stream of a run that goes on.
func (v *Voice) Broke(line string) {
	v.say(event{Type: "RUN_ERROR", Message: line, Code: "DISCONNECTED"})
}
