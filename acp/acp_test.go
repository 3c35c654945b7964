package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/acp"
	"github.com/mulligan-run/mulligan/recovery"
)

const (
	plain   = `{"fs":{"readTextFile":false,"writeTextFile":false}}`
	forms   = `{"elicitation":{"form":{}}}`
	notices = `{"session":{"notices":{}}}`
)

// permits answers each permission request with the option at that index; -1 is the last one.
func permits(i int) func(string, map[string]any) (any, *protocol.RequestError) {
	return func(method string, params map[string]any) (any, *protocol.RequestError) {
		if method != "session/request_permission" {
			return nil, protocol.NewMethodNotFound(method)
		}
		options := params["options"].([]any)
		id := options[(i+len(options))%len(options)].(map[string]any)["optionId"]
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}, nil
	}
}

func TestAnswered(t *testing.T) {
	e := newClient(t, newCore(t, step{tool: "weather"}), plain, nil).begin()
	r := e.prompt("hi")
	if r.StopReason != "end_turn" || e.text("agent_message_chunk") != "You said: " || e.calls() != "weather: completed" {
		t.Errorf("%+v\n%q\n%s", r, e.text("agent_message_chunk"), e.calls())
	}
	if r = e.prompt("well"); r.StopReason != "end_turn" || !strings.HasSuffix(e.text("agent_message_chunk"), "You said: well") {
		t.Errorf("%+v\n%q", r, e.text("agent_message_chunk"))
	}
}

// TestPermission: a suggestion as a permission request, which every client can show. Its title is
// the proposal, each option is allowed once, the suggested one is first and Stop is last.
func TestPermission(t *testing.T) {
	seen := make(chan struct{})
	c := newCore(t, step{text: "Half", after: seen, fails: true})
	e := newClient(t, c, plain, permits(0)).begin()
	go func() {
		defer close(seen)
		until(t, func() bool { return e.text("agent_message_chunk") == "Half" })
	}()
	r := e.prompt("hi")
	if text := e.text("agent_message_chunk"); r.StopReason != "end_turn" || !strings.HasPrefix(text, "Half\n\n---\n*(The text above") || !strings.HasSuffix(text, "You said: hi") {
		t.Errorf("%+v\n%q", r, text)
	}
	if len(e.asked) != 1 {
		t.Fatalf("%v", e.asked)
	}
	p := e.asked[0]["params"].(map[string]any)
	if title := p["toolCall"].(map[string]any)["title"].(string); !strings.HasPrefix(title, "Retry (") || strings.Contains(title, "?") {
		t.Errorf("the title is %q", title)
	}
	options := p["options"].([]any)
	for _, o := range options {
		if o.(map[string]any)["kind"] != "allow_once" {
			t.Errorf("%v", o)
		}
	}
	if options[len(options)-1].(map[string]any)["name"] != "Stop" {
		t.Errorf("%v", options)
	}
	if got := e.calls(); !strings.HasPrefix(got, "Recovered after 1 retry: completed") {
		t.Errorf("%s", got)
	}
}

func TestStop(t *testing.T) {
	for name, answer := range map[string]func(string, map[string]any) (any, *protocol.RequestError){
		"Stop": permits(-1),
		"cancelled": func(string, map[string]any) (any, *protocol.RequestError) {
			return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil
		},
	} {
		c := newCore(t, step{fails: true})
		e := newClient(t, c, plain, answer).begin()
		if r := e.prompt("hi"); r.StopReason != "end_turn" || e.last(c).End == nil || strings.Contains(e.text("agent_message_chunk"), "Reply") {
			t.Errorf("%s: %+v, %+v", name, r, e.last(c).End)
		}
	}
}

// TestForm: a client that has forms gets one. Dismissing it is Stop, as with a permission request.
func TestForm(t *testing.T) {
	for answer, want := range map[string]recovery.Status{
		`{"action":"accept","content":{"action":"a1"}}`: recovery.StatusCompleted,
		`{"action":"decline"}`:                          recovery.StatusCancelled,
	} {
		c := newCore(t, step{fails: true})
		e := newClient(t, c, forms, func(string, map[string]any) (any, *protocol.RequestError) { return json.RawMessage(answer), nil }).begin()
		r := e.prompt("hi")
		if got := e.last(c).Status; got != want || r.StopReason != "end_turn" || len(e.asked) != 1 || e.asked[0]["method"] != "elicitation/create" {
			t.Fatalf("%s: %s, %+v\n%v", answer, got, r, e.asked)
		}
		p := e.asked[0]["params"].(map[string]any)
		choices := p["requestedSchema"].(map[string]any)["properties"].(map[string]any)["action"].(map[string]any)["oneOf"].([]any)
		if first := choices[0].(map[string]any); p["mode"] != "form" || first["title"] != "Retry" || first["const"] != "a1" {
			t.Errorf("%v", p)
		}
	}
}

// TestNobodyChooses: a client that cannot be asked, or whose answer was none of the choices, gets
// the choices as text; a number as the next prompt is the answer.
func TestNobodyChooses(t *testing.T) {
	for name, answers := range map[string]func(string, map[string]any) (any, *protocol.RequestError){
		"it cannot be asked": nil,
		"an id of its own": func(string, map[string]any) (any, *protocol.RequestError) {
			return json.RawMessage(`{"outcome":{"outcome":"selected","optionId":"a99"},"action":"accept","content":{"action":"a99"}}`), nil
		},
	} {
		for _, can := range []string{plain, forms, "17"} {
			c := newCore(t, step{fails: true})
			e := newClient(t, c, can, answers).begin()
			r := e.prompt("hi")
			about, _ := r.Meta["mulligan"].(map[string]any)
			if text := e.text("agent_message_chunk"); !strings.Contains(text, "Reply 1 to retry, 2 to stop.") || about["recoverySuggestion"] == nil || !e.last(c).SuggestionOpen() {
				t.Errorf("%s, %s: %+v\n%q", name, can, r, text)
			}
			if e.prompt("1"); e.last(c).Status != recovery.StatusCompleted || !strings.HasSuffix(e.text("agent_message_chunk"), "You said: hi") {
				t.Errorf("%s, %s: %q", name, can, e.text("agent_message_chunk"))
			}
			if e.prompt("1"); !strings.HasSuffix(e.text("agent_message_chunk"), "You said: 1") {
				t.Errorf("%s, %s: a second 1 is a message: %q", name, can, e.text("agent_message_chunk"))
			}
		}
	}
}

// TestAnotherMessage: a prompt that is not a number replaces the suggestion.
func TestAnotherMessage(t *testing.T) {
	e := newClient(t, newCore(t, step{fails: true}), plain, nil).begin()
	e.prompt("hi")
	if e.prompt("3"); !strings.HasSuffix(e.text("agent_message_chunk"), "You said: 3") {
		t.Errorf("%q", e.text("agent_message_chunk"))
	}
}

// TestAttemptCap: a program that presses the first button, whatever it is, comes to an end; a person
// may go on.
func TestAttemptCap(t *testing.T) {
	for _, can := range []string{plain, forms} {
		var steps []step
		for range 40 {
			steps = append(steps, step{fails: true})
		}
		c := newCore(t, steps...)
		press := permits(0)
		e := newClient(t, c, can, func(method string, params map[string]any) (any, *protocol.RequestError) {
			if method == "elicitation/create" {
				return json.RawMessage(`{"action":"accept","content":{"action":"a1"}}`), nil
			}
			return press(method, params)
		}).begin()
		e.prompt("hi")
		if run := e.last(c); run.Call.Attempts != recovery.MaxAttemptsPerCall || !run.SuggestionOpen() || len(e.asked) != recovery.MaxAttemptsPerCall-1 {
			t.Errorf("%s: %d attempts, asked %d times", can, run.Call.Attempts, len(e.asked))
		}
		if e.prompt("1"); e.last(c).Call.Attempts != recovery.MaxAttemptsPerCall+1 {
			t.Errorf("%s: a person's answer: %d attempts", can, e.last(c).Call.Attempts)
		}
	}
}

// TestNotices: a client that has notices is told of a recovery by them, and not by a tool call.
func TestNotices(t *testing.T) {
	e := newClient(t, newCore(t, step{fails: true}), notices, permits(0)).begin()
	e.prompt("hi")
	var titles []string
	for _, u := range e.told {
		if u["sessionUpdate"] == "notice" {
			titles = append(titles, fmt.Sprint(u["severity"], ": ", u["title"]))
		}
	}
	if got := strings.Join(titles, "\n"); !strings.Contains(got, "overloaded") || !strings.HasSuffix(got, "Recovered after 1 retry") || e.calls() != "" {
		t.Errorf("%s\n%s", got, e.calls())
	}
}

func TestCancel(t *testing.T) {
	c := newCore(t, step{text: "Half", hangs: true})
	e := newClient(t, c, plain, nil).begin()
	over := make(chan protocol.PromptResponse)
	go func() {
		r, err := e.say("hi")
		if err != nil {
			t.Error(err)
		}
		over <- r
	}()
	<-c.asked
	if said := e.refused("session/prompt", `{"sessionId":"`+e.session+`","prompt":[{"type":"text","text":"and"}]}`); !strings.Contains(said, "still running; cancel it") {
		t.Errorf("a second prompt: %s", said)
	}
	if err := e.conn.SendNotification(t.Context(), "session/cancel", map[string]any{"sessionId": e.session}); err != nil {
		t.Fatal(err)
	}
	if r := <-over; r.StopReason != "cancelled" || e.last(c).Status != recovery.StatusCancelled {
		t.Errorf("%+v, %s", r, e.last(c).Status)
	}
}

// TestReload: another client is shown all that was said, and continues what the previous one left
// in the middle; a prompt that is sent meanwhile is not lost.
func TestReload(t *testing.T) {
	c := newCore(t, step{tool: "weather"}, step{text: "It rains."}, step{text: "Half", hangs: true})
	first := newClient(t, c, plain, nil).begin()
	first.prompt("hi")
	go func() { _, _ = first.say("and tomorrow?") }()
	<-c.asked
	first.hangUp()

	e := newClient(t, c, plain, nil)
	e.session = first.session
	if said := e.refused("session/load", `{"sessionId":"no-such","cwd":"/","mcpServers":[]}`); !strings.Contains(said, "no-such") {
		t.Error(said)
	}
	call[map[string]any](e, "session/load", `{"sessionId":"`+e.session+`","cwd":"/","mcpServers":[]}`)
	if user, text := e.text("user_message_chunk"), e.text("agent_message_chunk"); user != "hiand tomorrow?" || text != "It rains." || e.calls() != "weather: completed" {
		t.Errorf("%q, %q, %s", user, text, e.calls())
	}
	listed := call[protocol.ListSessionsResponse](e, "session/list", `{}`).Sessions
	if len(listed) != 1 || string(listed[0].SessionId) != e.session || *listed[0].Title != "hi" {
		t.Errorf("%+v", listed)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.prompt("never mind")
	}()
	until(t, func() bool { return strings.Contains(e.text("agent_message_chunk"), "Half") })
	if err := c.Runner.Cancel(t.Context(), e.last(c).ID); err != nil {
		t.Fatal(err)
	}
	if <-over; !strings.HasSuffix(e.text("agent_message_chunk"), "You said: never mind") {
		t.Errorf("%q", e.text("agent_message_chunk"))
	}
}

// TestReloadAsks: an open suggestion is offered anew.
func TestReloadAsks(t *testing.T) {
	c := newCore(t, step{fails: true})
	first := newClient(t, c, plain, nil).begin()
	first.prompt("hi")
	e := newClient(t, c, plain, nil)
	e.session = first.session
	call[map[string]any](e, "session/load", `{"sessionId":"`+e.session+`","cwd":"/","mcpServers":[]}`)
	if !strings.Contains(e.text("agent_message_chunk"), "Reply 1 to retry") {
		t.Fatalf("%q", e.text("agent_message_chunk"))
	}
	if e.prompt("1"); !strings.HasSuffix(e.text("agent_message_chunk"), "You said: hi") {
		t.Errorf("%q", e.text("agent_message_chunk"))
	}
}

func TestChoices(t *testing.T) {
	c := newCore(t)
	e := newClient(t, c, plain, nil).begin()
	call[map[string]any](e, "session/set_mode", `{"sessionId":"`+e.session+`","modeId":"auto"}`)
	call[map[string]any](e, "session/set_model", `{"sessionId":"`+e.session+`","modelId":"lab/other"}`)
	if s, err := c.log.Session(t.Context(), e.session); err != nil || s.Model != "lab/other" || s.AutoRecover == nil || !*s.AutoRecover {
		t.Errorf("%+v, %v", s, err)
	}
	call[map[string]any](e, "session/set_config_option", `{"sessionId":"`+e.session+`","configId":"model","value":"lab/parrot"}`)
	r := call[protocol.LoadSessionResponse](e, "session/load", `{"sessionId":"`+e.session+`","cwd":"/","mcpServers":[]}`)
	if r.Modes.CurrentModeId != "auto" || r.Models.CurrentModelId != "lab/parrot" || r.ConfigOptions[0].Select.CurrentValue != "lab/parrot" {
		t.Errorf("%+v", r)
	}
}

func TestRefused(t *testing.T) {
	e := newClient(t, newCore(t), plain, nil).begin()
	for method, params := range map[string]string{
		"session/set_mode":          `{"sessionId":"%s","modeId":"yolo"}`,
		"session/set_model":         `{"sessionId":"%s","modelId":"no/such"}`,
		"session/set_config_option": `{"sessionId":"%s","configId":"theme","value":"dark"}`,
		"session/prompt":            `{"sessionId":"%s","prompt":[{"type":"image","data":"","mimeType":"image/png"}]}`,
		"session/load":              `{"sessionId":"../%s","cwd":"/","mcpServers":[]}`,
		"session/fork":              `{"sessionId":"%s"}`,
	} {
		e.refused(method, fmt.Sprintf(params, e.session))
	}
	for _, params := range []string{`{"sessionId":"other","prompt":[{"type":"text","text":"hi"}]}`, `{"sessionId":"` + e.session + `","prompt":[]}`, `null`, `7`} {
		e.refused("session/prompt", params)
	}
}

// TestEnds: the agent may end first, while the client is silent.
func TestEnds(t *testing.T) {
	c := newCore(t)
	ctx, end := context.WithCancelCause(t.Context())
	silent, client := io.Pipe()
	defer client.Close()
	end(context.DeadlineExceeded)
	err := acp.Serve(ctx, acp.Config{Runs: c, Log: c.log, Models: models}, new(strings.Builder), silent)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
