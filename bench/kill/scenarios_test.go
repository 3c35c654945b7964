package kill

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// scenario is what happens to a run if no process dies.
type scenario struct {
	steps []faultlab.Step // what the model does; the last step repeats
	asks  bool            // failures are offered to a person instead of being recovered from automatically
	waits time.Duration   // before a retry
	slow  bool            // see killableLog
	early bool            // a person may act before the wait is over, which Keep does not do
	// input is the conversation that the run begins with.
	input []llm.Message
	// reacts is what a person does on seeing an event.
	reacts func(c *child, e recovery.Event)
}

// overflow is how the provider says that a conversation is too long.
const overflow = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`

// long is a text that is streamed in many pieces.
var long = strings.TrimSpace(strings.Repeat(strings.Repeat("mulligan", 40)+" ", 40))

// working asks for tools, fails once, asks for tools again, and gives a long answer.
var working = []faultlab.Step{
	faultlab.ToolCalls("Let me look. ", faultlab.Call{Name: toolLook}, faultlab.Call{Name: toolPay}),
	faultlab.Unavailable(),
	faultlab.ToolCalls("", faultlab.Call{Name: toolPay}),
	faultlab.Answer(long),
}

var scenarios = map[string]scenario{
	"tools": {steps: working, waits: 5 * time.Millisecond},
	"slow":  {steps: working, waits: 5 * time.Millisecond, slow: true},
	"looks": {steps: []faultlab.Step{faultlab.ToolCall(toolLook, "{}"), faultlab.Answer("All good.")}},
	"pays":  {steps: []faultlab.Step{faultlab.ToolCall(toolPay, "{}"), faultlab.Answer("All good.")}},
	"plain": {steps: []faultlab.Step{faultlab.Answer("All good.")}},
	"asks":  {steps: working, asks: true},
	"waits": {steps: working, waits: 30 * time.Second, early: true, reacts: (*child).cutShort},
	"long": {
		steps: []faultlab.Step{faultlab.Status(400, nil, overflow), faultlab.Answer("They talked."), faultlab.Answer("It fits.")},
		input: conversation(20, 1000),
	},
	"keeps":   {steps: append(slices.Repeat([]faultlab.Step{faultlab.ToolCall(toolLook, "{}")}, 70), faultlab.Answer("All good."))},
	"speaks":  {steps: []faultlab.Step{faultlab.SlowAnswer(strings.Repeat("mulligan ", 20), 40*time.Millisecond)}},
	"cancels": {steps: []faultlab.Step{faultlab.StallAfter("It is ")}, reacts: (*child).cancel},
}

// conversation is a conversation of so many turns of so many bytes each.
func conversation(turns, bytes int) []llm.Message {
	var messages []llm.Message
	for i := range turns {
		messages = append(messages, llm.User(fmt.Sprintf("question %d %s", i, strings.Repeat("q", bytes))),
			llm.Message{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{{Text: fmt.Sprintf("answer %d", i)}}})
	}
	return messages
}

// cutShort answers a long wait as a person.
func (c *child) cutShort(e recovery.Event) {
	if w, ok := e.Body.(recovery.Waiting); ok && time.Until(w.Until) > time.Second {
		c.answer(e.Run, w.ID, recovery.ButtonRetryNow)
	}
}

// cancel cancels the run, as a person, once it has begun.
func (c *child) cancel(e recovery.Event) {
	if _, ok := e.Body.(recovery.Began); ok {
		c.check(c.runner.Cancel(c.ctx, e.Run))
	}
}
