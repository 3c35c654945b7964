package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"syscall"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/timeline"
)

// Request is what a run begins with; empty fields are filled in from the session, or the
// configuration.
type Request struct {
	Prompt      string `json:"prompt" jsonschema:"what the agent is to do"`
	Model       string `json:"model,omitempty" jsonschema:"provider/model; the configured one by default"`
	Session     string `json:"session,omitempty" jsonschema:"the conversation that it goes on with; a new name begins one"`
	AutoRecover *bool  `json:"autoRecover,omitempty" jsonschema:"whether it recovers by itself where it can, without asking; as configured by default"`
}

// Runs is what Serve needs of the core.
type Runs interface {
	// Start begins a run and gives its id.
	Start(ctx context.Context, r Request) (run string, err error)
	// Follow is that of timeline.Log.
	Follow(ctx context.Context, run string, after uint64) iter.Seq2[timeline.Item, error]
	// Recover answers a suggestion.
	Recover(ctx context.Context, run, suggestion, action string) error
	// Cancel ends a run.
	Cancel(ctx context.Context, run string) error
}

// maxPrompt is the longest prompt, in characters.
const maxPrompt = 1 << 20

// Stdio speaks over the process's standard input and output.
func Stdio() mcp.Transport { return &mcp.StdioTransport{} }

// Serve serves one client until it disconnects or ctx ends.
func Serve(ctx context.Context, runs Runs, version string, over mcp.Transport) error {
	schema, err := jsonschema.For[Request](nil)
	if err != nil {
		return err
	}
	least, most := 1, maxPrompt
	schema.Properties["prompt"].MinLength, schema.Properties["prompt"].MaxLength = &least, &most
	s := mcp.NewServer(&mcp.Implementation{Name: "mulligan", Title: "Mulligan", Version: version}, nil)
	open := true
	d := &session{runs: runs, asked: map[string]string{}}
	mcp.AddTool(s, &mcp.Tool{
		Name: "run", Title: "Run an agent",
		Description: "Has an agent carry out a prompt with its own model and tools, until it is answered. Failures of its model are recovered from, or its user is asked what to do.",
		InputSchema: schema, Annotations: &mcp.ToolAnnotations{OpenWorldHint: &open},
	}, func(ctx context.Context, req *mcp.CallToolRequest, in Request) (*mcp.CallToolResult, any, error) {
		result, err := (&call{session: d, req: req}).run(ctx, in)
		return result, nil, err
	})
	if err := s.Run(ctx, over); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !hungUp(err) {
		return explained(err)
	}
	return nil
}

// explained says of what is no JSON, as where a person types, what belongs here instead.
func explained(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("a client of MCP starts this, and speaks JSON-RPC; what came is something else: %w", err)
	}
	return err
}

// hungUp reports whether the client went away while something was being written to it.
func hungUp(err error) bool { return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) }

// session is what the calls of one client share.
type session struct {
	runs Runs

	mu    sync.Mutex
	asked map[string]string // by run: the suggestion that the client was asked about
}

func (d *session) ask(run, suggestion string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[run] = suggestion
}

// answered gives the suggestion of a run that the client was asked about, once.
func (d *session) answered(run string) (suggestion string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	suggestion, ok = d.asked[run]
	delete(d.asked, run)
	return suggestion, ok
}
