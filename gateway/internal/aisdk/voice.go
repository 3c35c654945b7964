package aisdk

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// chunk is a chunk of the stream as JSON; a type omits the fields that it does not have.
type chunk struct {
	Type      string          `json:"type"`
	MessageID string          `json:"messageId,omitempty"`
	ID        string          `json:"id,omitempty"`
	Delta     string          `json:"delta,omitempty"`
	CallID    string          `json:"toolCallId,omitempty"`
	ToolName  string          `json:"toolName,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Output    any             `json:"output,omitempty"`
	Dynamic   bool            `json:"dynamic,omitempty"`
	Executed  bool            `json:"providerExecuted,omitempty"`
	Transient bool            `json:"transient,omitempty"`
	Data      any             `json:"data,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Error     string          `json:"errorText,omitempty"`
	Finish    string          `json:"finishReason,omitempty"`
	Metadata  *Metadata       `json:"messageMetadata,omitempty"`
}

// Metadata is what is known about a message besides its parts.
type Metadata struct {
	Run                string               `json:"run"`
	Model              string               `json:"model"`
	Status             recovery.Status      `json:"status"`
	Tokens             int64                `json:"tokens,omitempty"`
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion,omitempty"`
}

// Voice is a tell.Listener that encodes what it is told as the protocol's server-sent events.
type Voice struct {
	out  bytes.Buffer
	err  error
	part string // the type of the open part: "text", "reasoning", or ""
	step string
	n    int // parts of the step so far

	inStep    bool
	taken     bool // the step is empty: its content was withdrawn
	incident  int
	recovery  *tell.Recovery // the one shown
	above     bool           // it is above the step, and is not withdrawn with it
	lost      bool           // it was withdrawn
	recovered bool
}

// New begins the message of a run.
func New(run string) *Voice {
	v := &Voice{}
	v.say(chunk{Type: "start", MessageID: run})
	return v
}

// Header is the header of the answer.
func Header() map[string]string {
	return map[string]string{"X-Vercel-Ai-Ui-Message-Stream": "v1"}
}

// Take returns what is to be sent.
func (v *Voice) Take() ([]byte, error) {
	v.restore()
	data := bytes.Clone(v.out.Bytes())
	v.out.Reset()
	return data, v.err
}

func (v *Voice) say(c chunk) {
	data, err := json.Marshal(c)
	if err != nil {
		v.err = err
		return
	}
	v.out.WriteString("data: ")
	v.out.Write(data)
	v.out.WriteString("\n\n")
}

// Step implements tell.Listener.
func (v *Voice) Step(name string) {
	v.step, v.n = name, 0
	if v.taken {
		v.taken = false
		v.restore()
		return
	}
	v.endStep()
	v.inStep, v.above = true, v.recovery != nil
	v.say(chunk{Type: "start-step"})
}

func (v *Voice) endStep() {
	v.endPart()
	if v.inStep {
		v.say(chunk{Type: "finish-step"})
	}
	v.inStep = false
}

// Withdraw implements tell.Listener. It withdraws the step's content, including what was said about
// the recovery within it.
func (v *Voice) Withdraw() {
	v.part, v.taken = "", true
	v.lost = v.recovery != nil && !v.above
	v.say(chunk{Type: "reset-step"})
}

// restore repeats the state of the recovery if it was withdrawn with a step.
func (v *Voice) restore() {
	if v.lost {
		v.show(*v.recovery)
	}
}

// open makes sure that a part of that type is open, and returns its id.
func (v *Voice) open(kind string) string {
	if v.part != kind {
		v.endPart()
		v.n++
		v.part = kind
		v.say(chunk{Type: kind + "-start", ID: v.id()})
	}
	return v.id()
}

func (v *Voice) id() string { return v.step + "-" + strconv.Itoa(v.n) }

func (v *Voice) endPart() {
	if v.part != "" {
		v.say(chunk{Type: v.part + "-end", ID: v.id()})
		v.part = ""
	}
}

// Thinking implements tell.Listener.
func (v *Voice) Thinking(text string) {
	v.say(chunk{Type: "reasoning-delta", ID: v.open("reasoning"), Delta: text})
}

// Text implements tell.Listener.
func (v *Voice) Text(text string) {
	v.say(chunk{Type: "text-delta", ID: v.open("text"), Delta: text})
}

// Call implements tell.Listener. It says that the tool runs here, so that the client does not run it,
// too.
func (v *Voice) Call(c llm.ToolCall) {
	v.endPart()
	v.say(chunk{Type: "tool-input-available", CallID: c.ID, ToolName: c.Name, Input: args(c), Dynamic: true, Executed: true})
}

// args are a call's arguments, which a model may have written badly.
func args(c llm.ToolCall) json.RawMessage {
	if json.Valid(c.Args) {
		return c.Args
	}
	text, err := json.Marshal(string(c.Args))
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// Returned implements tell.Listener.
func (v *Voice) Returned(r llm.ToolResult, outcome recovery.Outcome) {
	if outcome != recovery.OutcomeOK || r.IsError {
		v.say(chunk{Type: "tool-output-error", CallID: r.CallID, Error: orSome(r.Text), Dynamic: true, Executed: true})
		return
	}
	v.say(chunk{Type: "tool-output-available", CallID: r.CallID, Output: r.Text, Dynamic: true, Executed: true})
}

// orSome returns a text that is not empty, because the protocol requires one.
func orSome(text string) string {
	if text == "" {
		return "It failed, and did not say why."
	}
	return text
}

// Recovery implements tell.Listener. After a recovery that is over, the next one gets a part of its
// own.
func (v *Voice) Recovery(r tell.Recovery) {
	if v.recovery == nil || v.recovered {
		v.incident++
		v.above = !v.inStep
	}
	v.recovered = r.Phase == tell.PhaseRecovered
	v.recovery = &r
	v.show(r)
}

func (v *Voice) show(r tell.Recovery) {
	v.lost = false
	v.say(chunk{Type: "data-recovery", ID: r.Run + "-recovery-" + strconv.Itoa(v.incident), Data: r})
}

// Passing implements tell.Listener.
func (v *Voice) Passing(r tell.Recovery) {
	v.say(chunk{Type: "data-recovery-status", Transient: true, Data: r})
}

// Notice implements tell.Listener.
func (v *Voice) Notice(line string) {
	v.say(chunk{Type: "data-recovery-status", Transient: true, Data: tell.Recovery{Phase: tell.PhaseWaiting, Text: line}})
}

// End implements tell.Listener. An error means that nothing can be done: templates show their own text
// for it. A suggestion is not an error, since its buttons are shown.
func (v *Voice) End(e tell.End) {
	v.endStep()
	meta := &Metadata{Run: e.Run, Model: e.Model, Status: e.Status, Tokens: e.Usage.Total(), RecoverySuggestion: e.Suggestion}
	switch {
	case e.Status == recovery.StatusCancelled:
		v.say(chunk{Type: "message-metadata", Metadata: meta})
		v.say(chunk{Type: "abort", Reason: e.Line})
	case e.Suggestion != nil && e.Suggestion.AsksApproval():
		v.say(chunk{Type: "finish", Finish: "tool-calls", Metadata: meta})
	case e.Suggestion != nil && e.Suggestion.SuggestedAction != recovery.ActionFail:
		v.say(chunk{Type: "finish", Finish: "error", Metadata: meta})
	case e.Status != recovery.StatusCompleted:
		v.say(chunk{Type: "message-metadata", Metadata: meta})
		v.say(chunk{Type: "error", Error: orSome(e.Line)})
	case e.Truncated:
		v.say(chunk{Type: "finish", Finish: "length", Metadata: meta})
	default:
		v.say(chunk{Type: "finish", Finish: "stop", Metadata: meta})
	}
	v.done()
}

// Broke ends the stream of a run that goes on.
func (v *Voice) Broke(line string) {
	v.say(chunk{Type: "error", Error: line})
	v.done()
}

func (v *Voice) done() { v.out.WriteString("data: [DONE]\n\n") }
