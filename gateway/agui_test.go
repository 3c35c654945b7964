package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// exchange is what a client of AG-UI sends, with more in it.
func exchange(messages, more string) string {
	return `{"threadId":"chat","runId":"x1","protocolVersion":"1.0","state":{"mine":1},"tools":[],"context":[],"messages":[` + messages + `]` + more + `}`
}

const aguiHello = `{"id":"m1","role":"user","content":"hi"}`

// TestAGUIFromAFailureToTheAnswer: a suggestion ends the exchange as the client has it, is answered by the
// same route, and text that is void goes by a snapshot of all messages.
func TestAGUIFromAFailureToTheAnswer(t *testing.T) {
	for mode, props := range map[string]string{"result": ``, "interrupt": `,"forwardedProps":{"recovery":"interrupt"}`} {
		t.Run(mode, func(t *testing.T) {
			w := newWritten()
			s := serve(t, w)
			first := ask(t, "POST", s.URL+"/v1/agui", exchange(aguiHello, props))
			if first.resp.StatusCode != http.StatusOK {
				t.Fatal(first.resp.Status)
			}
			run := w.newest(t, "chat", 0)
			w.fail(t, run)
			finished := first.until("RUN_FINISHED")
			if said := first.said(); !strings.HasPrefix(said, "RUN_STARTED\nCUSTOM\nTEXT_MESSAGE_START "+run+"-1\nTEXT_MESSAGE_CONTENT par "+run+"-1\n") || !strings.Contains(said, "ACTIVITY_SNAPSHOT "+run+"-recovery-1\nSTATE_SNAPSHOT\n") {
				t.Errorf("it says\n%s", said)
			}
			if state := last(first.frames, "STATE_SNAPSHOT")["snapshot"].(map[string]any); state["mine"] != 1.0 || state["recovery"].(map[string]any)["phase"] != "suggestion" {
				t.Errorf("the state is %v", state)
			}
			id := w.states[run].Suggestion.ID
			answer := fmt.Sprintf(`,"forwardedProps":{"recovery":{"suggestionId":%q,"action":"a1"}}`, id)
			if mode == "interrupt" {
				outcome := finished["outcome"].(map[string]any)
				if asks := outcome["interrupts"].([]any)[0].(map[string]any); asks["id"] != id || asks["reason"] != "recovery:overloaded" {
					t.Errorf("it ends with %v", finished)
				}
				answer = fmt.Sprintf(`,"resume":[{"interruptId":%q,"status":"resolved","payload":{"action":"a1"}}]`, id)
			} else if meta := finished["result"].(map[string]any)["meta"].(map[string]any); meta["recoverySuggestion"].(map[string]any)["id"] != id {
				t.Errorf("it ends with %v", finished)
			}
			partial := `,{"id":"` + run + `-1","role":"assistant","content":"par"}`
			second := ask(t, "POST", s.URL+"/v1/agui", exchange(aguiHello+partial, answer))
			first = second
			first.until("MESSAGES_SNAPSHOT") // what the run says is said once more
			w.must(t, run, recovery.Began{Attempt: 2, Round: 1, Try: 1, Model: "a/one", Withdraws: 1, Retry: true}, answered(2, "all of it"), completed)
			said := second.all()
			if left := last(second.frames, "MESSAGES_SNAPSHOT")["messages"].([]any); len(left) != 1 || left[0].(map[string]any)["id"] != "m1" {
				t.Errorf("these messages stay: %v", left)
			}
			if !strings.HasSuffix(said, "TEXT_MESSAGE_START "+run+"-2\nTEXT_MESSAGE_CONTENT all of it "+run+"-2\nTEXT_MESSAGE_END "+run+"-2\nRUN_FINISHED\n") {
				t.Errorf("it says\n%s", said)
			}
		})
	}
}

// TestAGUIComesBack: who sends nothing new gets the thread as it is, and the rest of the run.
func TestAGUIComesBack(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	if said := ask(t, "POST", s.URL+"/v1/agui", exchange("", "")).all(); said != "RUN_STARTED\nCUSTOM\nRUN_FINISHED\n" {
		t.Errorf("of a thread without a run it says\n%s", said)
	}
	ask(t, "POST", s.URL+"/v1/agui", exchange(aguiHello, ""))
	run := w.newest(t, "chat", 0)
	w.must(t, run, began(1))
	w.log.Publish(run, timeline.Delta{Run: run, Attempt: 1, Text: "Half"})
	back := ask(t, "POST", s.URL+"/v1/agui", exchange("", ""))
	back.until("TEXT_MESSAGE_CONTENT")
	w.must(t, run, answered(1, "Half and half"), completed)
	if said := back.all(); !strings.HasPrefix(said, "RUN_STARTED\nCUSTOM\nMESSAGES_SNAPSHOT\nTEXT_MESSAGE_START "+run+"-1\nTEXT_MESSAGE_CONTENT Half "+run+"-1\n") || !strings.HasSuffix(said, "RUN_FINISHED\n") {
		t.Errorf("it says\n%s", said)
	}
	next := ask(t, "POST", s.URL+"/v1/agui", exchange(`{"id":"m2","role":"user","content":[{"type":"text","text":"more"}]}`, ""))
	w.must(t, w.newest(t, "chat", 1), began(1), answered(1, "More."), completed)
	next.all()
	again := ask(t, "POST", s.URL+"/v1/agui", exchange("", ""))
	again.all()
	if all := last(again.frames, "MESSAGES_SNAPSHOT")["messages"].([]any); len(all) != 3 || all[1].(map[string]any)["content"] != "Half and half" || all[2].(map[string]any)["content"] != "more" {
		t.Errorf("the thread is %v", all)
	}
}

// TestAGUIMessagesAreNotLost: a message in the place of an answer is answered, and to put a suggestion
// away without one is Stop.
func TestAGUIMessagesAreNotLost(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	ask(t, "POST", s.URL+"/v1/agui", exchange(aguiHello, ""))
	run := w.newest(t, "chat", 0)
	w.fail(t, run)
	cancelled := fmt.Sprintf(`,"resume":[{"interruptId":%q,"status":"cancelled"}]`, w.states[run].Suggestion.ID)
	stream := ask(t, "POST", s.URL+"/v1/agui", exchange(aguiHello+`,{"id":"m2","role":"user","content":"never mind"}`, cancelled))
	other := w.newest(t, "chat", 1)
	w.must(t, other, began(1), answered(1, "Fine."), completed)
	if said := stream.all(); !strings.Contains(said, "Fine.") || w.states[run].End == nil {
		t.Errorf("it says\n%s", said)
	}
	ask(t, "POST", s.URL+"/v1/agui", exchange(`{"id":"m3","role":"user","content":"once more"}`, ""))
	run = w.newest(t, "chat", 2)
	w.fail(t, run)
	cancelled = fmt.Sprintf(`,"resume":[{"interruptId":%q,"status":"cancelled"}]`, w.states[run].Suggestion.ID)
	ask(t, "POST", s.URL+"/v1/agui", exchange(`{"id":"m3","role":"user","content":"once more"}`, cancelled))
	if a := w.states[run]; a.SuggestionOpen() || a.End != nil && a.End.Status == recovery.StatusCompleted {
		t.Errorf("it was not stopped: %+v", a.Suggestion)
	}
}

// TestAGUIEndsAsAnError: a run with nothing left to offer is an error, and what cannot be an input is
// refused by the name of its field.
func TestAGUIEndsAsAnError(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	stream := ask(t, "POST", s.URL+"/v1/agui", exchange(aguiHello, ""))
	run := w.newest(t, "chat", 0)
	w.must(t, run, began(1), recovery.Failed{Attempt: 1, Failure: *overloaded()}, recovery.Ended{Status: recovery.StatusFailed, StopReason: "failed"})
	if e := stream.until("RUN_ERROR"); e["code"] != "MODEL_PROVIDER_UNAVAILABLE" || !strings.HasPrefix(e["message"].(string), "Anthropic is overloaded. ") {
		t.Errorf("it ends with %v", e)
	}
	for body, want := range map[string]string{
		exchange(aguiHello, `,"forwardedProps":{"recovery":"sometimes"}`):                    "body.forwardedProps.recovery",
		exchange(aguiHello, `,"forwardedProps":[1]`):                                         "body.forwardedProps",
		exchange(aguiHello, `,"resume":[{"interruptId":"s","status":"resolved"}]`):           "body.resume[0].payload",
		exchange(`{"id":"m","role":"user","content":[{"type":"image"}]}`, ""):                "body.messages[0].content",
		exchange(`{"id":"m","role":"user","content":""}`, ""):                                "body.messages[0].content",
		strings.Replace(exchange(aguiHello, ""), `"threadId":"chat"`, `"threadId":"a/b"`, 1): "body.threadId",
	} {
		var said struct{ Errors []struct{ Location string } }
		if code := call(t, "POST", s.URL+"/v1/agui", body, nil, &said); code != 422 || len(said.Errors) == 0 || said.Errors[0].Location != want {
			t.Errorf("%s: %d %v", body, code, said)
		}
	}
}
