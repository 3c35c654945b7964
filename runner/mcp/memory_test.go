package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// inMemory is a server that lives in the test, as often as it is started.
type inMemory struct {
	build func(*sdk.Server)
	down  error // what a start gets instead

	mu     sync.Mutex
	starts int
	last   net.Conn // the server's end
}

// dial starts it once more.
func (m *inMemory) dial(context.Context, *link) (sdk.Transport, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts++
	if m.down != nil {
		return nil, m.down
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	m.build(server)
	theirs, ours := net.Pipe()
	m.last = theirs
	_, err := server.Connect(context.Background(), &sdk.IOTransport{Reader: theirs, Writer: theirs}, nil)
	return &sdk.IOTransport{Reader: ours, Writer: ours}, err
}

func (m *inMemory) started() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.starts
}

func (m *inMemory) set(down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// die cuts the connection that is there now.
func (m *inMemory) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.last.Close()
}

// opened opens a set of one server.
func (m *inMemory) opened(t *testing.T, spec Spec, logger *slog.Logger) *Set {
	t.Helper()
	spec.Name = "mem"
	s := newServer(spec, usualPace, logger)
	s.dial = m.dial
	set, err := open(t.Context(), []*server{s})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

type handler = sdk.ToolHandler

func says(text string) handler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

// hangs waits until it is cancelled, and tells when it began and why it ended.
func hangs(began chan<- struct{}, ended chan<- error) handler {
	return func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
}

func declared(name string, hints *sdk.ToolAnnotations) *sdk.Tool {
	return &sdk.Tool{Name: name, Description: "does " + name, Annotations: hints, InputSchema: map[string]any{"type": "object"}}
}

var (
	readOnly   = &sdk.ToolAnnotations{ReadOnlyHint: true}
	idempotent = &sdk.ToolAnnotations{IdempotentHint: true}
	quiet      = slog.New(slog.DiscardHandler)
)

func run(ctx context.Context, t *testing.T, set *Set, name string) (string, error) {
	t.Helper()
	return runWith(ctx, t, set, name, `{}`)
}

func runWith(ctx context.Context, t *testing.T, set *Set, name, args string) (string, error) {
	t.Helper()
	for _, tool := range set.Tools() {
		if tool.Name == name {
			return tool.Run(ctx, runner.ToolCall{ID: "c1", Args: json.RawMessage(args)})
		}
	}
	t.Fatalf("there is no tool %s among %+v", name, set.Tools())
	return "", nil
}

func state(set *Set) State { return set.States()[0] }

func TestToolsAreOfferedAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &inMemory{build: func(s *sdk.Server) {
			s.AddTool(declared("look", readOnly), says("it is there"))
			s.AddTool(declared("fail", nil), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such file"}}}, nil
			})
		}}
		set := m.opened(t, Spec{Timeout: time.Minute}, quiet)
		defer set.Close()
		if text, err := run(t.Context(), t, set, "mem__look"); text != "it is there" || err != nil {
			t.Errorf("look gave %q, %v", text, err)
		}
		if _, err := run(t.Context(), t, set, "mem__fail"); err == nil || err.Error() != "no such file" {
			t.Errorf("fail gave %v", err)
		}
		look := set.Tools()[1]
		if look.Description != "does look" || string(look.Schema) != `{"type":"object"}` || look.Timeout != time.Minute || look.Safety != recovery.SafetyReadOnly {
			t.Errorf("look is %+v", look)
		}
		if s := state(set); s.Status != StatusRunning || s.Tools != 2 || s.LastError != "" {
			t.Errorf("state %+v", s)
		}
	})
}

func TestSafety(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name  string
		hints *sdk.ToolAnnotations
		own   map[string]recovery.Safety
		want  recovery.Safety
	}{
		{"silent", nil, nil, recovery.SafetyUnsafe},
		{"empty", &sdk.ToolAnnotations{}, nil, recovery.SafetyUnsafe},
		{"read-only", readOnly, nil, recovery.SafetyReadOnly},
		{"idempotent", idempotent, nil, recovery.SafetyIdempotent},
		{"idempotent, destructive", &sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: &yes}, nil, recovery.SafetyIdempotent},
		{"both", &sdk.ToolAnnotations{IdempotentHint: true, ReadOnlyHint: true}, nil, recovery.SafetyReadOnly},
		{"a lie", readOnly, map[string]recovery.Safety{"x": recovery.SafetyUnsafe}, recovery.SafetyUnsafe},
		{"known better", nil, map[string]recovery.Safety{"x": recovery.SafetyIdempotent}, recovery.SafetyIdempotent},
		{"of another", readOnly, map[string]recovery.Safety{"y": recovery.SafetyUnsafe}, recovery.SafetyReadOnly},
	} {
		if got := (Spec{Safety: c.own}).safety(declared("x", c.hints)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestServerThatDiesInMidCall is the promise about outcomes, tool by tool.
func TestServerThatDiesInMidCall(t *testing.T) {
	for name, c := range map[string]struct {
		hints   *sdk.ToolAnnotations
		unknown bool
	}{"unsafe": {nil, true}, "idempotent": {idempotent, false}, "read-only": {readOnly, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, ended := make(chan struct{}, 1), make(chan error, 1)
				m := &inMemory{build: func(s *sdk.Server) {
					s.AddTool(declared("work", c.hints), hangs(began, ended))
					s.AddTool(declared("look", readOnly), says("back"))
				}}
				set := m.opened(t, Spec{}, quiet)
				defer set.Close()
				go func() {
					<-began
					m.die()
				}()
				_, err := run(t.Context(), t, set, "mem__work")
				if errors.Is(err, runner.ErrOutcomeUnknown) != c.unknown || err == nil {
					t.Errorf("the call ended with %v", err)
				}
				if text, err := run(t.Context(), t, set, "mem__look"); text != "back" || err != nil {
					t.Errorf("after the restart: %q, %v", text, err)
				}
				if s := state(set); s.Status != StatusRunning || s.Restarts != 1 || s.LastError == "" {
					t.Errorf("state %+v", s)
				}
			})
		})
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := make(chan struct{}, 1), make(chan error, 1)
		m := &inMemory{build: func(s *sdk.Server) {
			s.AddTool(declared("work", nil), hangs(began, ended))
			s.AddTool(declared("look", readOnly), says("fine"))
		}}
		set := m.opened(t, Spec{}, quiet)
		defer set.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-began
			cancel(errors.New("the user stopped it"))
		}()
		_, err := run(ctx, t, set, "mem__work")
		if !errors.Is(err, runner.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "the user stopped it") {
			t.Errorf("the call ended with %v", err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server saw %v", err)
		}
		time.Sleep(usualPace.ping)
		if s := state(set); s.Restarts != 0 {
			t.Errorf("a server that is well was restarted: %+v", s)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &inMemory{build: func(s *sdk.Server) { s.AddTool(declared("look", readOnly), says("fine")) }, down: errors.New("no such program")}
		began := time.Now()
		set := m.opened(t, Spec{}, quiet)
		defer set.Close()
		if s := state(set); s.Status != StatusRestarting || s.LastError != "no such program" || len(set.Tools()) != 0 {
			t.Fatalf("after the first start: %+v", s)
		}
		time.Sleep(250*time.Millisecond + 500*time.Millisecond + time.Second + 2*time.Second)
		synctest.Wait()
		if s := state(set); s.Status != StatusBroken || m.started() != 5 || time.Since(began) != 3750*time.Millisecond {
			t.Fatalf("after five deaths: %+v, %d starts", s, m.started())
		}
		time.Sleep(time.Minute - time.Millisecond)
		synctest.Wait()
		if m.started() != 5 {
			t.Errorf("%d starts while it rests", m.started())
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if s := state(set); m.started() != 6 || s.Status != StatusBroken {
			t.Errorf("after the rest: %d starts, %+v", m.started(), s)
		}
		m.set(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := state(set); s.Status != StatusRunning || s.Tools != 1 {
			t.Errorf("after it is well: %+v", s)
		}
		if text, err := run(t.Context(), t, set, "mem__look"); text != "fine" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestBrokenServerAnswersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &inMemory{build: func(s *sdk.Server) { s.AddTool(declared("look", readOnly), says("fine")) }}
		set := m.opened(t, Spec{}, quiet)
		defer set.Close()
		m.set(errors.New("gone"))
		m.die()
		time.Sleep(10 * time.Second)
		began := time.Now()
		_, err := run(t.Context(), t, set, "mem__look")
		if err == nil || errors.Is(err, runner.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "is broken: gone") {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestRestarts(t *testing.T) {
	r := restarts{pace: usualPace}
	now := time.Unix(0, 0)
	for _, want := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second} {
		now = now.Add(30 * time.Second)
		if wait, broken := r.died(now, 0); wait != want || broken {
			t.Fatalf("got %v, %v, want %v", wait, broken, want)
		}
	}
	if wait, _ := r.died(now.Add(time.Hour), time.Hour); wait != 250*time.Millisecond {
		t.Errorf("after an hour of life it waits %v", wait)
	}
}

func TestChangedListIsForLaterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server *sdk.Server
		m := &inMemory{build: func(s *sdk.Server) {
			server = s
			s.AddTool(declared("old", readOnly), says("old"))
		}}
		set := m.opened(t, Spec{}, quiet)
		defer set.Close()
		before := set.Tools()
		server.AddTool(declared("new", readOnly), says("new"))
		time.Sleep(time.Second)
		if len(before) != 1 || len(set.Tools()) != 2 {
			t.Errorf("before %d tools, after %d", len(before), len(set.Tools()))
		}
		if text, err := run(t.Context(), t, set, "mem__new"); text != "new" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
		server.RemoveTools("old")
		time.Sleep(time.Second)
		_, err := before[0].Run(t.Context(), runner.ToolCall{Args: json.RawMessage(`{}`)})
		if err == nil || errors.Is(err, runner.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "old") {
			t.Errorf("a tool that is gone gave %v", err)
		}
	})
}

func TestOfferIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &inMemory{build: func(s *sdk.Server) {
			s.AddTool(&sdk.Tool{Name: "wordy", Description: strings.Repeat("x", maxDescription+1), InputSchema: map[string]any{"type": "object"}}, says(""))
			s.AddTool(&sdk.Tool{Name: "deep", InputSchema: map[string]any{"type": "object", "description": strings.Repeat("x", maxSchema)}}, says(""))
			for i := range maxTools + 3 {
				s.AddTool(declared(fmt.Sprintf("t%03d", i), nil), says(""))
			}
		}}
		var logged strings.Builder
		set := m.opened(t, Spec{Exclude: []string{"t000"}, Safety: map[string]recovery.Safety{"typo": recovery.SafetyReadOnly}}, slog.New(slog.NewTextHandler(&logged, nil)))
		defer set.Close()
		tools := set.Tools()
		if len(tools) != maxTools || tools[0].Name != "mem__t001" {
			t.Errorf("%d tools, the first is %s", len(tools), tools[0].Name)
		}
		for _, want := range []string{"tool=wordy", "tool=deep", "tool=t129", "tool=t130", "tool=typo"} {
			if !strings.Contains(logged.String(), want) {
				t.Errorf("the log does not name %s:\n%s", want, logged.String())
			}
		}
		if strings.Contains(logged.String(), "tool=t000") {
			t.Error("the log names a tool that nobody wanted")
		}
	})
}

// TestApproval: a person approves of the tools that the configuration lists, or of all.
func TestApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for listed, want := range map[string]bool{"look": true, "*": true, "other": false} {
			m := &inMemory{build: func(s *sdk.Server) { s.AddTool(declared("look", readOnly), says("it is there")) }}
			set := m.opened(t, Spec{Approval: []string{listed}}, quiet)
			if tools := set.Tools(); len(tools) != 1 || tools[0].Approval != want {
				t.Errorf("with %q: %+v", listed, tools)
			}
			set.Close()
		}
	})
}

func TestInclude(t *testing.T) {
	s := Spec{Include: []string{"a", "b"}, Exclude: []string{"b"}}
	if !s.offers("a") || s.offers("b") || s.offers("c") || !(Spec{}).offers("c") {
		t.Error("include and exclude do not do what they say")
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	seen := map[string]string{}
	for _, c := range []struct{ tool, want string }{
		{"read_file", "files__read_file"},
		{"read-file", "files__read-file"},
		{"read.file", "files__read_file_"},
		{"read file", "files__read_file_"},
		{"läs", "files__l_s_"},
		{long, "files__xxx"},
		{long + "y", "files__xxx"},
		{strings.Repeat("x", 57), "files__" + strings.Repeat("x", 57)},
		{strings.Repeat("x", 58), "files__xxx"},
	} {
		got := offeredName("files", c.tool)
		if !strings.HasPrefix(got, c.want) || len(got) > maxName {
			t.Errorf("%s is called %s, want %s", c.tool, got, c.want)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%s and %s are both called %s", c.tool, other, got)
		}
		seen[got] = c.tool
	}
}

func TestProgressOfACall(t *testing.T) {
	for want, p := range map[string]*sdk.ProgressNotificationParams{
		"3":                    {Progress: 3},
		"3 of 10":              {Progress: 3, Total: 10},
		"reading a b (1 of 2)": {Progress: 1, Total: 2, Message: "reading\x1b a\nb"},
	} {
		if got := progressText(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var f callsUnderway
	ctx := context.WithValue(t.Context(), refusalsKey{}, "first")
	first, done := f.begin(ctx)
	second, _ := f.begin(t.Context())
	if got, ok := f.of(first); got != ctx || !ok {
		t.Error("a token does not lead to its call")
	}
	if _, ok := f.only(); ok {
		t.Error("a note without a token was given to one of two calls")
	}
	done()
	if _, ok := f.of(first); ok {
		t.Error("a call that is over is still found")
	}
	if _, ok := f.only(); !ok || second == first {
		t.Error("the only call is not found")
	}
}

func TestResultText(t *testing.T) {
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		want   string
	}{
		"texts":      {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.TextContent{Text: "b"}}}, "a\nb"},
		"image":      {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "see"}, &sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 12<<10)}}}, "see\n[image/png, 12 KB]"},
		"sound":      {&sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: make([]byte, 3<<20)}}}, "[audio, 3.0 MB]"},
		"link":       {&sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{Name: "n", URI: "file:///n"}}}, "[link to n file:///n]"},
		"resource":   {&sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{Text: "inside"}}}}, "inside"},
		"blob":       {&sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{MIMEType: "application/zip", Blob: []byte("123")}}}}, "[application/zip, 3 B]"},
		"structured": {&sdk.CallToolResult{StructuredContent: map[string]any{"n": 1}}, `{"n":1}`},
		"both":       {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "one"}}, StructuredContent: map[string]any{"n": 1}}, "one"},
		"picture":    {&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png"}}, StructuredContent: map[string]any{"n": 1}}, "[image/png, 0 B]\n{\"n\":1}"},
		"nothing":    {&sdk.CallToolResult{}, ""},
	} {
		if got, err := resultText(c.result); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
	huge := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("ä", runner.MaxToolResult)}}}
	if got, _ := resultText(huge); len(got) > runner.MaxToolResult || !strings.HasSuffix(got, "…") {
		t.Errorf("a huge result has %d bytes", len(got))
	}
	if _, err := resultText(&sdk.CallToolResult{IsError: true}); err == nil {
		t.Error("an empty error is none")
	}
}

func TestSpecIsChecked(t *testing.T) {
	good := Spec{Name: "files", Command: []string{"true"}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, spec := range map[string]Spec{
		"not a name for an MCP server":  {Name: "a__b", Command: []string{"true"}},
		"not a name for an MCP server ": {Name: "9", Command: []string{"true"}},
		"either a command or a url":     {Name: "a"},
		"either a command or a url ":    {Name: "a", Command: []string{"true"}, URL: "https://example.com"},
		"must be https":                 {Name: "a", URL: "http://example.com/mcp"},
		"must be https ":                {Name: "a", URL: "ftp://127.0.0.1/mcp"},
		"user or password":              {Name: "a", URL: "https://me:s3cret@example.com/mcp"},
		"names no variable":             {Name: "a", URL: "https://example.com", Headers: map[string]string{"Authorization": "Bearer s3cret"}},
		"not the name of a header":      {Name: "a", URL: "https://example.com", Headers: map[string]string{"a b": "${X}"}},
		"headers are for a url":         {Name: "a", Command: []string{"true"}, Headers: map[string]string{"A": "${X}"}},
		"env is for a command":          {Name: "a", URL: "https://example.com", Env: []string{"X"}},
		"neither NAME":                  {Name: "a", Command: []string{"true"}, Env: []string{"=x"}},
		"not between 0":                 {Name: "a", Command: []string{"true"}, Timeout: -1},
		"the safety of x":               {Name: "a", Command: []string{"true"}, Safety: map[string]recovery.Safety{"x": "fine"}},
	} {
		if err := spec.Check(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", want, err)
		}
	}
	for _, u := range []string{"https://example.com/mcp", "http://localhost:8080/mcp", "http://127.0.0.1/mcp", "http://[::1]:9/mcp"} {
		if err := (Spec{Name: "a", URL: u}).Check(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.Context(), []Spec{good, good}, nil); err == nil || !strings.Contains(err.Error(), "two MCP servers") {
		t.Errorf("two of a name: %v", err)
	}
}
