package gateway_test

import (
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAConversationIsBranched: a new one begins with what was said before a message, and stays when that
// is deleted.
func TestAConversationIsBranched(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	first := begin(t, s, "tea", "Plan my week")
	branch := `{"prompt":"In one line","session":"other","branchOf":"` + first + `"}`
	var problem struct{ Detail string }
	if code := call(t, "POST", s.URL+"/v1/runs", branch, nil, &problem); code != 409 {
		t.Errorf("of a run that goes on: %d %s", code, problem.Detail)
	}
	said := llm.Message{Role: llm.RoleAssistant, Model: "a/one", Parts: []llm.Part{{Text: "Monday."}}}
	err := w.write(first, recovery.Began{Attempt: 1, Round: 1, Model: "a/one"}, recovery.Answered{Attempt: 1, Message: said}, recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s, "tea", "And the week after")
	var run gateway.Run
	key := map[string]string{"Idempotency-Key": "once"}
	for range 2 { // the same one, however often it is asked for
		if code := call(t, "POST", s.URL+"/v1/runs", branch, key, &run); code != 201 || run.Session != "other" || len(run.Messages) < 2 {
			t.Fatalf("%d %+v", code, run)
		}
	}
	asked := w.asked[len(w.asked)-1]
	if len(asked.Messages) != 2 || asked.Messages[0].Text() != "Plan my week" || asked.Messages[1].Text() != "Monday." || asked.Prompt != "In one line" {
		t.Errorf("it begins with %+v", asked)
	}
	if code := call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi","branchOf":"nobody"}`, nil, &problem); code != 422 {
		t.Errorf("of a run that is not there: %d", code)
	}
	if code := call(t, "POST", s.URL+"/v1/runs", `{"branchOf":"`+first+`"}`, nil, &problem); code != 422 {
		t.Errorf("with nothing to say: %d", code)
	}
}
