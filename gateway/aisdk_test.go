package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// told is a stream of another protocol, frame by frame.
type told struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Scanner
	frames []map[string]any
}

// ask sends a request that is answered by a stream.
func ask(t *testing.T, method, url, body string) *told {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	s := &told{t: t, resp: resp, lines: bufio.NewScanner(resp.Body)}
	s.lines.Buffer(nil, 1<<20)
	return s
}

// next gives the next frame; nil = it is over.
func (s *told) next() map[string]any {
	s.t.Helper()
	for s.lines.Scan() {
		data, ok := strings.CutPrefix(s.lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var frame map[string]any
		if err := json.Unmarshal([]byte(data), &frame); err != nil {
			s.t.Fatalf("%s: %v", data, err)
		}
		s.frames = append(s.frames, frame)
		return frame
	}
	return nil
}

// until reads up to a frame of a type.
func (s *told) until(kind string) map[string]any {
	s.t.Helper()
	for f := s.next(); f != nil; f = s.next() {
		if f["type"] == kind {
			return f
		}
	}
	s.t.Fatalf("there was no %s:\n%s", kind, s.said())
	return nil
}

// said is what has been read, in short.
func (s *told) said() string {
	var b strings.Builder
	for _, f := range s.frames {
		fmt.Fprint(&b, f["type"])
		for _, key := range []string{"delta", "errorText", "finishReason", "messageId", "toolCallId"} {
			if v, ok := f[key]; ok {
				fmt.Fprintf(&b, " %v", v)
			}
		}
		if d, ok := f["data"].(map[string]any); ok {
			fmt.Fprintf(&b, " %v: %v", d["phase"], d["text"])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// all reads it to its end.
func (s *told) all() string {
	s.t.Helper()
	for s.next() != nil { // next keeps it
	}
	return s.said()
}

func began(n uint64) recovery.Began {
	return recovery.Began{Attempt: n, Round: 1, Try: int(n) - 1, Model: "a/one"} //nolint:gosec // a few
}

func answered(n uint64, text string) recovery.Answered {
	return recovery.Answered{Attempt: n, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: text}}}, Stop: llm.StopEnd}
}

var completed = recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"}

func (w *written) must(t *testing.T, id string, bodies ...recovery.Body) {
	t.Helper()
	if err := w.write(id, bodies...); err != nil {
		t.Fatal(err)
	}
}

const hello = `{"id":"chat","trigger":"submit-message","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"}],"metadata":{"x":1}}]}`

// newest waits for the run of a message that was just sent.
func (w *written) newest(t *testing.T, session string, after int) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		list, err := w.log.List(t.Context(), timeline.Query{Session: session})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > after {
			return list[0].Run
		}
		if time.Now().After(end) {
			t.Fatal("no run began")
		}
	}
}

// TestAISDKFromAFailureToTheAnswer: text of a failed attempt stays with the suggestion, is answered by the
// same route, and is gone once another attempt goes on.
func TestAISDKFromAFailureToTheAnswer(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	first := ask(t, "POST", s.URL+"/v1/aisdk", hello)
	if first.resp.StatusCode != http.StatusOK || first.resp.Header.Get("x-vercel-ai-ui-message-stream") != "v1" {
		t.Fatal(first.resp.Status, first.resp.Header)
	}
	run := w.newest(t, "chat", 0)
	w.fail(t, run)
	said := first.all()
	for _, want := range []string{"start " + run, "start-step\ntext-start\ntext-delta par\n", "data-recovery suggestion: ", "finish error"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing:\n%s", want, said)
		}
	}
	card := last(first.frames, "data-recovery")["data"].(map[string]any)
	if card["suggestedAction"] != "retry" || len(card["actions"].([]any)) < 2 || card["run"] != run {
		t.Errorf("the card is %v", card)
	}
	var chat struct {
		Messages []struct {
			ID, Role string
			Parts    []map[string]any
		}
	}
	if code := call(t, "GET", s.URL+"/v1/aisdk/chat/messages", "", nil, &chat); code != 200 || len(chat.Messages) != 2 || chat.Messages[1].ID != run {
		t.Fatalf("%d %+v", code, chat)
	}
	if parts := chat.Messages[1].Parts; parts[len(parts)-1]["type"] != "data-recovery" {
		t.Errorf("a page that is loaded has %v", parts)
	}

	body := fmt.Sprintf(`{"id":"chat","trigger":"regenerate-message","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"}]}],"recovery":{"suggestionId":%q,"action":"a1"}}`, card["suggestionId"])
	second := ask(t, "POST", s.URL+"/v1/aisdk", body)
	if second.resp.StatusCode != http.StatusOK {
		t.Fatal(second.resp.Status)
	}
	w.must(t, run, recovery.Began{Attempt: 2, Round: 1, Try: 1, Model: "a/one", Withdraws: 1, Retry: true})
	second.until("reset-step")
	w.log.Publish(run, timeline.Delta{Run: run, Attempt: 2, Text: "all of "})
	second.until("text-delta")
	w.must(t, run, answered(2, "all of it"), completed)
	said = second.all()
	for _, want := range []string{"start " + run, "data-recovery recovered: Recovered after 1 retry\ntext-start\ntext-delta all of \n", "text-delta it\ntext-end\nfinish-step\nfinish stop\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing:\n%s", want, said)
		}
	}
	if _, after, ok := strings.Cut(said, "reset-step\n"); !ok || strings.Contains(after, "par\n") {
		t.Errorf("text that is void is shown:\n%s", said)
	}
	if n := len(w.asked); n != 1 {
		t.Errorf("%d runs were begun", n)
	}
}

func last(frames []map[string]any, kind string) map[string]any {
	for _, f := range slices.Backward(frames) {
		if f["type"] == kind {
			return f
		}
	}
	return nil
}

// TestAISDKWithdraws: who follows sees text go that another attempt makes void, and gets from the middle
// what there is.
func TestAISDKWithdraws(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	if none := ask(t, "GET", s.URL+"/v1/aisdk/chat/stream", ""); none.resp.StatusCode != http.StatusNoContent {
		t.Error(none.resp.Status)
	}
	first := ask(t, "POST", s.URL+"/v1/aisdk", hello)
	run := w.newest(t, "chat", 0)
	w.must(t, run, began(1))
	w.log.Publish(run, timeline.Delta{Run: run, Attempt: 1, Text: "Half", Thinking: true})
	w.log.Publish(run, timeline.Delta{Run: run, Attempt: 1, Text: "Half"})
	first.until("text-delta")
	resumed := ask(t, "GET", s.URL+"/v1/aisdk/chat/stream", "")
	resumed.until("text-delta")
	if said := resumed.said(); !strings.HasPrefix(said, "start "+run+"\nstart-step\n") {
		t.Errorf("who comes back hears\n%s", said)
	}
	w.must(t, run, recovery.Failed{Attempt: 1, Text: "Half", Failure: *overloaded()},
		recovery.Decided{Occasion: w.states[run].Occasion(), Decision: recovery.Decision{Action: recovery.ActionRetry}}, recovery.Began{Attempt: 2, Round: 1, Try: 1, Model: "a/one", Withdraws: 1, Retry: true},
		answered(2, "Whole."), completed)
	for name, stream := range map[string]*told{"first": first, "resumed": resumed} {
		said := stream.all()
		_, after, ok := strings.Cut(said, "reset-step\n")
		if !ok || !strings.Contains(after, "text-delta Whole.\n") || !strings.HasSuffix(said, "finish stop\n") || strings.Count(said, "start-step") != 1 {
			t.Errorf("%s:\n%s", name, said)
		}
	}
	if again := ask(t, "POST", s.URL+"/v1/aisdk", hello); !strings.HasPrefix(again.all(), "start "+run+"\ndata-recovery recovered: Recovered after 1 retry\nstart-step\ntext-start\ntext-delta Whole.") || len(w.states) != 1 {
		t.Errorf("the same message sent twice:\n%s", again.said())
	}
}

// TestAISDKMessagesAreNotLost: a message that comes while a run goes on stops it, and one that comes
// instead of an answer is answered.
func TestAISDKMessagesAreNotLost(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	first := ask(t, "POST", s.URL+"/v1/aisdk", hello)
	run := w.newest(t, "chat", 0)
	w.must(t, run, began(1))
	next := strings.ReplaceAll(strings.ReplaceAll(hello, `"hi"`, `"and now?"`), `"m1"`, `"m2"`)
	second := ask(t, "POST", s.URL+"/v1/aisdk", next)
	other := w.newest(t, "chat", 1)
	if said := first.all(); !strings.HasSuffix(said, "abort\n") {
		t.Errorf("the run before:\n%s", said)
	}
	w.fail(t, other)
	second.until("finish")
	third := ask(t, "POST", s.URL+"/v1/aisdk", strings.ReplaceAll(next, `"m2"`, `"m3"`))
	w.must(t, w.newest(t, "chat", 2), began(1), answered(1, "Now."), completed)
	if said := third.all(); !strings.HasSuffix(said, "text-delta Now.\ntext-end\nfinish-step\nfinish stop\n") {
		t.Errorf("the third message:\n%s", said)
	}
}

// TestAISDKEndsAsAnError: a run with nothing left to offer is an error that the client shows.
func TestAISDKEndsAsAnError(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	stream := ask(t, "POST", s.URL+"/v1/aisdk", hello)
	run := w.newest(t, "chat", 0)
	w.must(t, run, began(1), recovery.Failed{Attempt: 1, Failure: *overloaded()}, recovery.Ended{Status: recovery.StatusFailed, StopReason: "failed"})
	if said := stream.all(); !strings.Contains(said, "data-recovery failed: ") || !strings.Contains(said, "\nerror Anthropic is overloaded. ") {
		t.Errorf("it ends with\n%s", said)
	}
}

// TestAISDKRefuses: what cannot be a message is refused, by the name of its field.
func TestAISDKRefuses(t *testing.T) {
	s := serve(t, newWritten())
	for body, want := range map[string]string{
		`{"id":"chat","messages":[]}`: "body.messages",
		`{"id":"../x","messages":[]}`: "body.id",
		`{"id":"chat","messages":[{"role":"user","parts":[{"type":"text","text":" "}]}]}`:                   "body.messages[0].parts",
		`{"id":"chat","messages":[{"role":"user","parts":[{"type":"file","url":"data:,x"}]}]}`:              "body.messages[0].parts",
		`{"id":"chat","Messages":[],"messages":[]}`:                                                         "body.Messages",
		`{"id":"chat","messages":[{"role":"user","parts":[{"type":"text","text":"x"}]}],"model":"no/such"}`: "body.model",
	} {
		var said struct{ Errors []struct{ Location string } }
		if code := call(t, "POST", s.URL+"/v1/aisdk", body, nil, &said); code != 422 || len(said.Errors) == 0 || said.Errors[0].Location != want {
			t.Errorf("%s: %d %v", body, code, said)
		}
	}
	if code := call(t, "POST", s.URL+"/v1/aisdk", `{"id":"new","messages":[],"recovery":{"action":"retry"}}`, nil, nil); code != 409 {
		t.Error(code)
	}
}

// TestAISDKHistory: a chat that the client knows and Mulligan does not is told to the model.
func TestAISDKHistory(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	ask(t, "POST", s.URL+"/v1/aisdk", `{"id":"old","messages":[{"role":"user","parts":[{"type":"text","text":"one"}]},
		{"role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"two"}]},{"id":"m","role":"user","parts":[{"type":"text","text":"three"}]}]}`)
	w.newest(t, "old", 0)
	if m := w.asked[0].Messages; len(m) != 3 || m[1].Role != llm.RoleAssistant || m[2].Text() != "three" {
		t.Errorf("%+v", w.asked[0])
	}
}

// TestAISDKIsGuarded: a stream that a write is answered by is let in as any write, and has the place of
// one only until it begins; it ends with its caller's token.
func TestAISDKIsGuarded(t *testing.T) {
	g := guard(t, func(c *gateway.GuardConfig) { c.Limits.Writes = 1 })
	if got := g.send("POST", "/v1/aisdk", hello); got.code != http.StatusUnauthorized {
		t.Errorf("a stranger: %d %s", got.code, got.body)
	}
	var streams []*told
	for _, chat := range []string{"one", "two"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/v1/aisdk", strings.NewReader(strings.Replace(hello, "chat", chat, 1)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		setHeader(req, g.bearer())
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(chat, resp.Status)
		}
		streams = append(streams, &told{t: t, resp: resp, lines: bufio.NewScanner(resp.Body)})
		g.runs.newest(t, chat, 0)
		streams[len(streams)-1].until("start")
	}
	if err := gateway.RotateToken(g.dir); err != nil {
		t.Fatal(err)
	}
	if said := streams[1].all(); !strings.HasSuffix(said, "Load the page again to follow it.\n") {
		t.Errorf("after the token was replaced:\n%s", said)
	}
}
