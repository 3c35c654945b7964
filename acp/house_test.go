package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/acp"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// step is what the model does when it is asked: it says text, and then fails, calls a tool or ends.
type step struct {
	text, tool string
	after      <-chan struct{} // what it waits for once it has said its text, if anything
	fails      bool
	hangs      bool
}

// core drives runs of a model that does one step after the other, and then says "You said: …".
type core struct {
	*runner.Runner
	log *timeline.Journal

	mu    sync.Mutex
	steps []step
	asked chan struct{} // one for each call that hangs
	work  context.Context
}

func newCore(t *testing.T, steps ...step) *core {
	t.Helper()
	c := &core{log: timeline.NewMemory(), steps: steps, asked: make(chan struct{}, 9)}
	work, letGo := context.WithCancelCause(context.Background())
	t.Cleanup(func() {
		letGo(runner.ErrLetGo)
		_ = c.Drain(context.Background())
	})
	c.work = work
	c.Runner = runner.New(runner.WithLog(c.log), runner.WithModel("lab/parrot", llm.ModelFunc(c.stream)), runner.WithTools(runner.Tool{
		Name: "weather", Description: "The weather", Run: func(context.Context, runner.ToolCall) (string, error) { return "rain", nil },
	}))
	return c
}

func (c *core) stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		c.mu.Lock()
		var s step
		if len(c.steps) > 0 {
			s, c.steps = c.steps[0], c.steps[1:]
		}
		c.mu.Unlock()
		if s.text != "" && !yield(llm.Delta{Kind: llm.DeltaText, Text: s.text}, nil) {
			return
		}
		if s.after != nil {
			<-s.after
		}
		switch {
		case s.fails:
			yield(llm.Delta{}, failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil))
		case s.hangs:
			c.asked <- struct{}{}
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
		case s.tool != "":
			_ = yield(llm.Delta{Kind: llm.DeltaCall, CallID: "c1", Name: s.tool}, nil) && yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopToolUse}, nil)
		default:
			said := "You said: " + req.Messages[len(req.Messages)-1].Text()
			_ = (s.text != "" || yield(llm.Delta{Kind: llm.DeltaText, Text: said}, nil)) && yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
		}
	}
}

func (c *core) Start(_ context.Context, session, prompt string) (string, error) {
	run, err := c.Runner.Start(c.work, runner.Request{Prompt: prompt, Session: session})
	if err != nil {
		if errors.Is(err, runner.ErrSessionBusy) || errors.Is(err, timeline.ErrSession) {
			err = acp.ErrBusy
		}
		return "", err
	}
	return run.ID(), nil
}

func (c *core) Resume(_ context.Context, run string) error {
	_, err := c.Runner.Resume(c.work, run)
	return err
}

func (c *core) Recover(_ context.Context, run, suggestion, action string) error {
	_, err := c.Runner.Recover(c.work, run, runner.Answer{Suggestion: suggestion, Action: action})
	return err
}

func (c *core) Cancel(_ context.Context, run string) error { return c.Runner.Cancel(c.work, run) }

func models() []acp.Model {
	return []acp.Model{{Name: "lab/parrot", Default: true, ContextTokens: 1000}, {Name: "lab/other"}}
}

// client is an editor: it records what it is told, and answers as the test says.
type client struct {
	testing.TB
	conn    *protocol.Connection
	hangUp  func()
	session string

	mu      sync.Mutex
	told    []map[string]any
	asked   []map[string]any // what it was asked, with its method
	answers func(method string, params map[string]any) (any, *protocol.RequestError)
}

// newClient connects a client with those capabilities; if answers is nil, it answers nothing.
func newClient(t testing.TB, c *core, can string, answers func(method string, params map[string]any) (any, *protocol.RequestError)) *client {
	t.Helper()
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	over := make(chan error, 1)
	go func() {
		err := acp.Serve(context.Background(), acp.Config{Runs: c, Log: c.log, Models: models, Dir: "/somewhere", Version: "test"}, toClient, fromClient)
		_ = toClient.Close()
		over <- err
	}()
	e := &client{TB: t, answers: answers, hangUp: sync.OnceFunc(func() {
		_ = toAgent.Close()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})}
	e.conn = protocol.NewConnection(e.handle, toAgent, fromAgent)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(e.hangUp)
	hello := call[map[string]any](e, "initialize", `{"protocolVersion":1,"clientCapabilities":`+can+`}`)
	if hello["protocolVersion"] != 1.0 {
		t.Fatalf("%v", hello)
	}
	return e
}

// call asks the agent, and fails the test where it refuses.
func call[R any](e *client, method, params string) R {
	e.Helper()
	r, err := protocol.SendRequest[R](e.conn, context.Background(), method, json.RawMessage(params))
	if err != nil {
		e.Fatalf("%s %s: %v", method, params, err)
	}
	return r
}

func (e *client) refused(method, params string) string {
	e.Helper()
	_, err := protocol.SendRequest[map[string]any](e.conn, context.Background(), method, json.RawMessage(params))
	if err == nil {
		e.Errorf("%s takes %s", method, params)
		return ""
	}
	return err.Error()
}

func (e *client) handle(_ context.Context, method string, params json.RawMessage) (any, *protocol.RequestError) {
	var p map[string]any
	if err := json.Unmarshal(params, &p); err != nil {
		e.Error(err)
	}
	if method == "session/update" {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, p["update"].(map[string]any))
		return nil, nil
	}
	e.mu.Lock()
	e.asked = append(e.asked, map[string]any{"method": method, "params": p})
	e.mu.Unlock()
	if e.answers == nil {
		return nil, protocol.NewMethodNotFound(method)
	}
	return e.answers(method, p)
}

// begin begins a session.
func (e *client) begin() *client {
	e.session = string(call[protocol.NewSessionResponse](e, "session/new", `{"cwd":"/somewhere","mcpServers":[]}`).SessionId)
	return e
}

func (e *client) say(text string) (protocol.PromptResponse, error) {
	params := map[string]any{"sessionId": e.session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
	return protocol.SendRequest[protocol.PromptResponse](e.conn, context.Background(), "session/prompt", params)
}

func (e *client) prompt(text string) protocol.PromptResponse {
	e.Helper()
	r, err := e.say(text)
	if err != nil {
		e.Fatal(err)
	}
	return r
}

// text is what was shown as text of that kind.
func (e *client) text(kind string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all strings.Builder
	for _, u := range e.told {
		if u["sessionUpdate"] == kind {
			all.WriteString(u["content"].(map[string]any)["text"].(string))
		}
	}
	return all.String()
}

// calls are the tool calls in their last state, in order: "title: status".
func (e *client) calls() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var order []string
	now := map[string]map[string]any{}
	for _, u := range e.told {
		id, _ := u["toolCallId"].(string)
		if id == "" {
			continue
		}
		if now[id] == nil {
			now[id] = map[string]any{}
			order = append(order, id)
		}
		for name, value := range u {
			now[id][name] = value
		}
	}
	var lines []string
	for _, id := range order {
		lines = append(lines, now[id]["title"].(string)+": "+now[id]["status"].(string))
	}
	return strings.Join(lines, "\n")
}

// last is the newest run of the session.
func (e *client) last(c *core) *recovery.Run {
	e.Helper()
	list, err := c.log.List(e.Context(), timeline.Query{Session: e.session, Limit: 1})
	if err != nil || len(list) != 1 {
		e.Fatal(list, err)
	}
	run, err := c.Inspect(e.Context(), list[0].Run)
	if err != nil {
		e.Fatal(err)
	}
	return run
}

// until waits until a condition holds.
func until(t testing.TB, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("it does not come to be")
			return
		}
	}
}
