package gateway

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestTheDocumentOfARunIsItsOwn: what the run continues is known where it stands, and is
// told by the documents of the runs that it was said in.
func TestTheDocumentOfARunIsItsOwn(t *testing.T) {
	run := &recovery.Run{}
	at := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	started := recovery.Started{Model: "a/one", Session: "s", Continues: &recovery.Head{Run: "r0", Seq: 9}, Input: []llm.Message{llm.User("And now?")}}
	if err := run.Apply(recovery.Event{Run: "r1", Seq: 1, Time: at, Body: started}); err != nil {
		t.Fatal(err)
	}
	run.Carry([]llm.Message{llm.User("hi"), {Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "Hello."}}}})
	v := view(run, at)
	if len(v.Messages) != 1 || v.Messages[0].Text() != "And now?" || v.Answer.Text != "" {
		t.Errorf("it says %+v and answers %+v", v.Messages, v.Answer)
	}
}
