package acp

import (
	"context"
	"fmt"
	"strings"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// turn reports a run to the client.
type turn struct {
	agent        *agent
	session, run string

	state     recovery.Run
	replaying bool // these are past events

	attempt uint64
	shown   int // bytes of its text that were shown
	thought int // bytes of its reasoning that were shown
	answer  int // bytes of the last answer's text
	stopped bool

	recovering string // the tool call that shows the current recovery, "" for none
	recoveries int
}

func newTurn(a *agent, session, run string) *turn { return &turn{agent: a, session: session, run: run} }

// replay reports what has happened to the run already.
func (t *turn) replay(ctx context.Context) error {
	t.replaying = true
	defer func() { t.replaying = false }()
	for {
		events, err := t.agent.Log.Read(ctx, t.run, t.state.Seq, timeline.DefaultLimit)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := t.event(e); err != nil {
				return err
			}
		}
		if len(events) == 0 {
			return nil
		}
	}
}

func (t *turn) update(what any) { t.agent.update(t.session, what) }

// say shows text of the agent's.
func (t *turn) say(text string) {
	t.update(protocol.SessionUpdate{AgentMessageChunk: &protocol.SessionUpdateAgentMessageChunk{
		SessionUpdate: "agent_message_chunk", Content: protocol.TextBlock(text), MessageId: protocol.Ptr(fmt.Sprintf("%s-%d", t.run, t.attempt)),
	}})
}

// item takes what a follower gets.
func (t *turn) item(item timeline.Item) error {
	switch {
	case item.Delta != nil && item.Delta.Attempt == t.attempt && item.Delta.Thinking:
		if text := newOf(&t.thought, item.Delta.Offset, item.Delta.Text); text != "" {
			t.update(protocol.UpdateAgentThoughtText(text))
		}
	case item.Delta != nil && item.Delta.Attempt == t.attempt:
		if text := newOf(&t.shown, item.Delta.Offset, item.Delta.Text); text != "" {
			t.closes(t.state.RecoveredLine(), protocol.ToolCallStatusCompleted)
			t.say(text)
		}
	case item.Notice != nil:
		t.tell(item.Notice.Text)
	case item.Event != nil:
		return t.event(*item.Event)
	}
	return nil
}

// newOf is the part of a piece of text that is new, if nothing before it is missing.
func newOf(known *int, offset int, text string) string {
	if offset < 0 || offset > *known || offset+len(text) <= *known {
		return ""
	}
	text = text[*known-offset:]
	*known += len(text)
	return text
}

// withdrawn says that the text above does not count.
const withdrawn = "\n\n---\n*(The text above was cut off and does not count; the answer starts over.)*\n\n"

// event takes an event.
func (t *turn) event(e recovery.Event) error {
	line := recovery.LocalText(&t.state, e, time.Now())
	if err := t.state.Apply(e); err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case recovery.Started:
		t.input(b)
	case recovery.Began:
		t.tell(line)
		t.began(b)
	case recovery.Answered:
		t.answered(b, line)
	case recovery.ToolBegan:
		t.update(protocol.UpdateToolCall(t.tool(b.CallID), protocol.WithUpdateStatus(protocol.ToolCallStatusInProgress)))
	case recovery.ToolReturned:
		t.returned(b)
	case recovery.Noted:
		t.noted(b, line)
	case recovery.Suggested: // see ask
	case recovery.Ended:
		t.ended(b)
	default:
		t.tell(line)
	}
	return nil
}

// input repeats what the user said, if the client does not know it.
func (t *turn) input(b recovery.Started) {
	if !t.replaying {
		return
	}
	for _, m := range b.Input {
		if text := m.Text(); m.Role == llm.RoleUser && text != "" {
			t.update(protocol.UpdateUserMessageText(text))
		}
	}
}

// began switches to another attempt.
func (t *turn) began(b recovery.Began) {
	before, goesOn := t.shown, 0
	if a := t.state.Attempt; a != nil { // it continues another attempt's text
		goesOn = len(a.Text)
	}
	if b.Again {
		before += t.answer
	}
	t.attempt, t.shown, t.thought, t.answer = b.Attempt, min(before, goesOn), 0, 0
	if goesOn == 0 && before > 0 && !t.replaying {
		t.say(withdrawn)
	}
}

// answered reports the rest of the answer, and the tools that it calls.
func (t *turn) answered(b recovery.Answered, line string) {
	text := b.Message.Text()
	if rest := newOf(&t.shown, 0, text); rest != "" {
		t.say(rest)
	}
	t.answer, t.shown = len(text), 0
	t.recovered(line)
	for _, c := range b.Message.Calls() {
		t.update(protocol.StartToolCall(t.tool(c.ID), c.Name, protocol.WithStartKind(protocol.ToolKindOther),
			protocol.WithStartStatus(protocol.ToolCallStatusPending), protocol.WithStartRawInput(c.Args)))
	}
	t.used(b.Usage)
}

// tool names a tool call uniquely: providers number their calls anew in each run.
func (t *turn) tool(call string) protocol.ToolCallId {
	return protocol.ToolCallId(t.run + "/" + call)
}

func (t *turn) returned(b recovery.ToolReturned) {
	status := protocol.ToolCallStatusCompleted
	if b.Outcome != recovery.OutcomeOK {
		status = protocol.ToolCallStatusFailed
	}
	t.update(protocol.UpdateToolCall(t.tool(b.CallID), protocol.WithUpdateStatus(status),
		protocol.WithUpdateContent([]protocol.ToolCallContent{protocol.ToolContent(protocol.TextBlock(b.Result.Text))})))
}

// noted shows a tool's own words with the tool.
func (t *turn) noted(b recovery.Noted, line string) {
	if b.Topic != recovery.TopicToolSays {
		t.tell(line)
		return
	}
	t.update(protocol.UpdateToolCall(t.tool(b.CallID), protocol.WithUpdateTitle(strings.TrimSpace(b.What+": "+b.Detail))))
}

// used reports how full the model's context is, if that is known, and what the run has cost.
func (t *turn) used(u llm.Usage) {
	for _, m := range t.agent.Models() {
		if m.Name != t.state.Model || m.ContextTokens == 0 {
			continue
		}
		said := protocol.SessionUsageUpdate{SessionUpdate: "usage_update", Size: m.ContextTokens, Used: int(u.Total())}
		if spent := t.state.Spent.Microdollars; spent > 0 {
			said.Cost = &protocol.Cost{Amount: float64(spent) / 1e6, Currency: "USD"}
		}
		t.update(protocol.SessionUpdate{UsageUpdate: &said})
	}
}

func (t *turn) ended(b recovery.Ended) {
	if text := t.state.Answer(); b.Status != recovery.StatusCompleted && t.replaying && text != "" && t.answer == 0 {
		t.say(text)
	}
	if b.Status != recovery.StatusCompleted {
		t.gaveUp()
	}
}
