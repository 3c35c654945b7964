package show

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAStayIsTold: whoever looks at a call sees why another model has answered it, and what that cost.
func TestAStayIsTold(t *testing.T) {
	at := time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)
	until := at.Add(30 * time.Minute)
	started := recovery.Started{
		Model: "b/two", Policy: recovery.Policy{Models: []string{"a/one", "b/two"}, Tools: recovery.ToolsOfCaller, Keep: recovery.KeepFigures},
		Stays: &recovery.Stay{Left: "a/one", Until: until},
	}
	var events []recovery.Event
	for i, b := range []recovery.Body{
		started,
		recovery.Claimed{Owner: "me", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "b/two"},
		recovery.Answered{Attempt: 1, Message: llm.Message{Role: llm.RoleAssistant, Model: "b/two"}, Usage: llm.Usage{InputTokens: 9000}, Stop: llm.StopEnd, CacheLost: 8000},
	} {
		events = append(events, recovery.Event{Run: "r1", Seq: uint64(i) + 1, Time: at, Text: recovery.Line(&recovery.Run{}, b), Body: b})
	}
	var out bytes.Buffer
	if err := New(&out, &out).Tell(events); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"may switch to a/one\n", "a/one failed; the conversation stays with b/two until " + words.Clock(until, time.Now()), "8,000 tokens of a prompt cache were lost",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
