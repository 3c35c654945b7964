package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Tool is a function of this program that a run's model may call. Declare it in Start.Tools, and
// follow the run with FollowWithTools.
type Tool struct {
	Name        string // letters, digits, '_' and '-'; not the name of one of the gateway's own tools
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; nil = any object
	// Safety says whether a call of unknown outcome may be repeated; by default never.
	Safety  recovery.Safety
	Timeout time.Duration // for a call, at most 24 h; 0 = the gateway's limit for tools
	// Run does the work. An error or a panic is the call's result, which the model is told. The same call may
	// come again, with the same Key, if this program stopped before it returned the result.
	Run func(ctx context.Context, call recovery.AwaitedCall) (string, error)
}

// MarshalJSON is the tool as it is declared to a gateway.
func (t Tool) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"schema,omitempty"`
		Safety      recovery.Safety `json:"safety,omitempty"`
		Timeout     int64           `json:"timeoutMs,omitempty"`
	}{t.Name, t.Description, t.Schema, t.Safety, t.Timeout.Milliseconds()})
}

// ToolResult is the result of a call that a run awaits: see Situation.Awaited.
type ToolResult struct {
	CallID  string `json:"callId"`
	Text    string `json:"text"`              // at most 256 KiB
	IsError bool   `json:"isError,omitempty"` // the tool failed, and Text says why
}

// ReturnToolResults gives a run the results of calls that it awaits; either all are accepted, or
// none. The same result may be sent again. Problems: 404 for a call that is not awaited, 409 if the
// call has another result, 410 if the run no longer waits for it.
func (c *Client) ReturnToolResults(ctx context.Context, run string, results ...ToolResult) error {
	return c.do(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(run)+"/tool-results", nil, map[string]any{"results": results}, nil)
}

// FollowWithTools is Follow, and meanwhile answers calls of the tools, several at a time. When the
// iteration ends, so do the contexts of calls in progress, and it waits for them.
func (c *Client) FollowWithTools(ctx context.Context, run string, after uint64, tools ...Tool) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		a := &answering{client: c, run: run, tools: tools, begun: map[string]bool{}, cancel: cancel}
		defer a.calls.Wait()
		defer cancel()
		stands, err := c.Run(ctx, run)
		if err != nil {
			yield(Item{}, err)
			return
		}
		a.answer(ctx, stands.Situation.Awaited)
		for item, err := range c.Follow(ctx, run, after) {
			if item.Situation != nil {
				a.answer(ctx, item.Situation.Awaited)
			}
			if !yield(item, err) {
				return
			}
		}
		if err := a.failed(); err != nil {
			yield(Item{}, err)
		}
	}
}

// answering answers a run's calls.
type answering struct {
	client *Client
	run    string
	tools  []Tool
	begun  map[string]bool
	cancel context.CancelFunc // ends Follow
	calls  sync.WaitGroup

	mu  sync.Mutex
	err error
}

func (a *answering) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// answer starts the calls that are new.
func (a *answering) answer(ctx context.Context, awaited []recovery.AwaitedCall) {
	for _, call := range awaited {
		asking := fmt.Sprint(call.Try, call.Key)
		for _, t := range a.tools {
			if t.Name == call.Name && !a.begun[asking] {
				a.begun[asking] = true
				a.calls.Go(func() { a.call(ctx, t, call) })
			}
		}
	}
}

func (a *answering) call(ctx context.Context, t Tool, call recovery.AwaitedCall) {
	text, err := t.run(ctx, call)
	if ctx.Err() != nil {
		return // it will be asked again
	}
	result := ToolResult{CallID: call.ID, Text: text}
	if err != nil {
		result.Text, result.IsError = err.Error(), true
	}
	err = a.client.ReturnToolResults(ctx, a.run, result)
	if p, ok := errors.AsType[*Problem](err); ok && p.unfit() { // the model is told, and the run does not wait
		result.Text, result.IsError = "its result cannot be given: "+p.Error(), true
		err = a.client.ReturnToolResults(ctx, a.run, result)
	}
	if p, ok := errors.AsType[*Problem](err); ok && p.late() {
		return // somebody else has answered, or the run continues without it
	}
	if err != nil && ctx.Err() == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err = fmt.Errorf("the result of %s: %w", call.Name, err)
		a.cancel()
	}
}

// run calls Run. A panic is an error: it has a goroutine of its own, on which nobody else could recover.
func (t Tool) run(ctx context.Context, call recovery.AwaitedCall) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	return t.Run(ctx, call)
}

// unfit reports whether a result was refused for what it is: too long, for example.
func (p *Problem) unfit() bool {
	return p.Status == http.StatusBadRequest || p.Status == http.StatusRequestEntityTooLarge || p.Status == http.StatusUnprocessableEntity
}

// late reports whether nobody waits for a result any more.
func (p *Problem) late() bool {
	return p.Status == http.StatusNotFound || p.Status == http.StatusConflict || p.Status == http.StatusGone
}
