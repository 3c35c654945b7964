package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/mcpserver"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// core drives runs of a model that is overloaded as often as it is told, and then repeats what it
// was told; with hang it says nothing instead.
type core struct {
	*runner.Runner
	log *timeline.Journal

	mu    sync.Mutex
	fails int
	hang  bool
	began chan string
}

func newCore(fails int) *core {
	c := &core{log: timeline.NewMemory(), fails: fails, began: make(chan string, 9)}
	c.Runner = runner.New(runner.WithLog(c.log), runner.WithModel("lab/parrot", llm.ModelFunc(c.stream)))
	return c
}

func (c *core) stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		c.mu.Lock()
		c.fails--
		fails := c.fails >= 0
		c.mu.Unlock()
		switch {
		case fails:
			yield(llm.Delta{}, failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil))
		case c.hang:
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
		default:
			said := req.Messages[len(req.Messages)-1].Text()
			_ = yield(llm.Delta{Kind: llm.DeltaText, Text: "You said: " + said}, nil) && yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
		}
	}
}

func (c *core) Start(_ context.Context, r mcpserver.Request) (string, error) {
	run, err := c.Runner.Start(context.Background(), runner.Request{Prompt: r.Prompt, Model: r.Model, Session: r.Session})
	if err != nil {
		return "", err
	}
	c.began <- run.ID()
	return run.ID(), nil
}

func (c *core) Follow(ctx context.Context, run string, after uint64) iter.Seq2[timeline.Item, error] {
	return c.log.Follow(ctx, run, after)
}

func (c *core) Recover(_ context.Context, run, suggestion, action string) error {
	_, err := c.Runner.Recover(context.Background(), run, runner.Answer{Suggestion: suggestion, Action: action})
	return err
}

func (c *core) Cancel(_ context.Context, run string) error {
	return c.Runner.Cancel(context.Background(), run)
}

// client is a client of the official SDK; choose answers forms, nil is a client without them.
func client(t *testing.T, c *core, version string, choose func(labels []string) (action string, i int), progress func(string)) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		if progress != nil {
			progress(r.Params.Message)
		}
	}}
	if choose != nil {
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			var form struct {
				Properties struct {
					Action struct {
						OneOf []struct{ Const, Title string }
					}
				}
			}
			data, _ := json.Marshal(r.Params.RequestedSchema)
			if err := json.Unmarshal(data, &form); err != nil {
				return nil, err
			}
			var labels []string
			for _, one := range form.Properties.Action.OneOf {
				labels = append(labels, one.Title)
			}
			action, i := choose(labels)
			if action != "accept" {
				return &mcp.ElicitResult{Action: action}, nil
			}
			return &mcp.ElicitResult{Action: action, Content: map[string]any{"action": form.Properties.Action.OneOf[i].Const}}, nil
		}
	}
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- mcpserver.Serve(ctx, c, "test", there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, options).Connect(t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return session
}

// versions are those by which a client is asked in two ways: "" is the newest.
var versions = []string{"", "2025-06-18"}

func ask(t *testing.T, s *mcp.ClientSession) *mcp.CallToolResult {
	t.Helper()
	params := &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"prompt": "hi"}}
	params.SetProgressToken("p")
	result, err := s.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func text(r *mcp.CallToolResult) string {
	if len(r.Content) != 1 {
		return ""
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func TestAnswered(t *testing.T) {
	r := ask(t, client(t, newCore(0), "", nil, nil))
	if r.IsError || text(r) != "You said: hi" || r.Meta["model"] != "lab/parrot" {
		t.Errorf("%+v: %s", r, text(r))
	}
}

// TestTheUserChooses: each time that it fails, from a form; what happens is told meanwhile.
func TestTheUserChooses(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { testTheUserChooses(t, version) })
	}
}

func testTheUserChooses(t *testing.T, version string) {
	t.Helper()
	var asked []string
	said := make(chan string, 99)
	r := ask(t, client(t, newCore(2), version, func(labels []string) (string, int) {
		asked = append(asked, strings.Join(labels, "|"))
		return "accept", 0
	}, func(line string) { said <- line }))
	if r.IsError || text(r) != "You said: hi" || len(asked) != 2 || !strings.HasPrefix(asked[0], "Retry") || !strings.HasSuffix(asked[0], "Stop") {
		t.Errorf("%q: %+v", asked, r)
	}
	select {
	case line := <-said:
		if !strings.Contains(line, "overloaded") {
			t.Errorf("the first line is %q", line)
		}
	case <-time.After(time.Minute):
		t.Error("no progress is told")
	}
}

// TestNobodyChooses: the result is an error that has the suggestion, which stays open.
func TestNobodyChooses(t *testing.T) {
	for name, choose := range map[string]func([]string) (string, int){
		"no forms": nil,
		"decline":  func([]string) (string, int) { return "decline", 0 },
		"cancel":   func([]string) (string, int) { return "cancel", 0 },
	} {
		for _, version := range versions {
			testNobodyChooses(t, name+" "+version, version, choose)
		}
	}
}

func testNobodyChooses(t *testing.T, name, version string, choose func([]string) (string, int)) {
	t.Helper()
	c := newCore(1)
	r := ask(t, client(t, c, version, choose, nil))
	s, _ := r.Meta["recoverySuggestion"].(map[string]any)
	run, _ := r.Meta["run"].(string)
	if !r.IsError || s["suggestedAction"] != "retry" || !strings.Contains(text(r), "mulligan recover "+run) {
		t.Errorf("%s: %+v: %s", name, r, text(r))
	}
	if state, err := c.Inspect(t.Context(), run); err != nil || !state.SuggestionOpen() {
		t.Errorf("%s: %+v, %v", name, state, err)
	}
}

func TestStop(t *testing.T) {
	r := ask(t, client(t, newCore(1), "", func(labels []string) (string, int) { return "accept", len(labels) - 1 }, nil))
	if !r.IsError || r.Meta["recoverySuggestion"] != nil || !strings.Contains(text(r), "overloaded") {
		t.Errorf("%+v: %s", r, text(r))
	}
}

// TestCancel: a call that its client cancels ends its run.
func TestCancel(t *testing.T) {
	c := newCore(0)
	c.hang = true
	session := client(t, c, "", nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = session.CallTool(ctx, &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"prompt": "hi"}})
	}()
	run := <-c.began
	cancel()
	<-over
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		state, err := c.Inspect(t.Context(), run)
		if err == nil && state.Status == recovery.StatusCancelled {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, %v", state, err)
		}
	}
}

func TestRefused(t *testing.T) {
	session := client(t, newCore(0), "", nil, nil)
	for _, arguments := range []map[string]any{{}, {"prompt": ""}, {"prompt": "hi", "tools": "x"}, {"prompt": "hi", "model": "no/such"}} {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: arguments})
		if err == nil && !r.IsError {
			t.Errorf("%v: %s", arguments, text(r))
		}
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"prompt": "hi"}, RequestState: "somebody-elses"})
	if err == nil && !r.IsError {
		t.Errorf("a run that nobody asked about: %s", text(r))
	}
}

// TestWhoTypesIsTold that a program speaks here.
func TestWhoTypesIsTold(t *testing.T) {
	typed := &mcp.IOTransport{Reader: io.NopCloser(strings.NewReader("hello\n")), Writer: nopCloser{io.Discard}}
	if err := mcpserver.Serve(t.Context(), newCore(0), "1", typed); err == nil || !strings.Contains(err.Error(), "a client of MCP") {
		t.Errorf("%v", err)
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
