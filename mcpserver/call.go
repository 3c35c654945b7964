package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/recovery"
)

// call is one call of the tool, or of the call that answers a question.
type call struct {
	*session
	req   *mcp.CallToolRequest
	state recovery.Run
	lines float64 // lines of progress so far

	before string // the suggestion answered before this call; everything up to it was reported
	left   bool   // nothing was chosen from it
}

// run brings a run to its end, or to a suggestion that nobody here answers.
func (c *call) run(ctx context.Context, in Request) (*mcp.CallToolResult, error) {
	if c.req.Params.RequestState != "" {
		return c.goOn(ctx, c.req.Params.RequestState)
	}
	id, err := c.runs.Start(ctx, in)
	if err != nil {
		return nil, err
	}
	return c.follow(ctx, id)
}

// goOn takes the answer to an earlier call's question.
func (c *call) goOn(ctx context.Context, run string) (*mcp.CallToolResult, error) {
	suggestion, ok := c.answered(run)
	if !ok {
		return nil, errors.New("nothing was asked about this call, or it was answered")
	}
	answer, _ := c.req.Params.InputResponses[question].(*mcp.ElicitResult)
	c.before, c.left = suggestion, !c.choose(ctx, run, suggestion, answer)
	return c.follow(ctx, run)
}

// follow reports what happens to a run until it has ended, or asks something.
func (c *call) follow(ctx context.Context, id string) (*mcp.CallToolResult, error) {
	for item, err := range c.runs.Follow(ctx, id, 0) {
		if err != nil {
			return nil, fmt.Errorf("run %s cannot be followed: %w", id, err)
		}
		if item.Event == nil {
			continue
		}
		if result, err := c.happened(ctx, *item.Event); result != nil || err != nil {
			return result, err
		}
	}
	if ctx.Err() != nil {
		const most = 5 * time.Second
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer stop()
		return nil, errors.Join(context.Cause(ctx), c.runs.Cancel(ending, id))
	}
	return c.result(), nil
}

// happened handles an event; a result ends the call.
func (c *call) happened(ctx context.Context, e recovery.Event) (*mcp.CallToolResult, error) {
	if err := c.state.Apply(e); err != nil {
		return nil, err
	}
	offered, is := e.Body.(recovery.Suggested)
	switch {
	case c.before == "":
		c.tell(ctx, e.Text)
	case is && offered.Suggestion.ID == c.before:
		c.before = ""
		if c.left {
			return c.result(), nil
		}
		return nil, nil
	default:
		return nil, nil
	}
	if is {
		return c.ask(ctx), nil
	}
	return nil, nil
}

// tell reports a line as progress, if the client wants progress.
func (c *call) tell(ctx context.Context, line string) {
	token := c.req.Params.GetProgressToken()
	if token == nil || line == "" {
		return
	}
	c.lines++
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: line, Progress: c.lines})
}

// question names what a call asks.
const question = "recovery"

// multiRoundTrip is the first protocol version in which a call that asks something is answered by
// being made again.
const multiRoundTrip = "2026-07-28"

// ask asks the client's user what to do; a result ends the call.
func (c *call) ask(ctx context.Context) *mcp.CallToolResult {
	s := c.state.OpenSuggestion(time.Now())
	if s == nil {
		return nil // the run continues, or ends
	}
	schema, can := choices(s), c.req.ClientCapabilities()
	if schema == nil || can == nil || can.Elicitation == nil || can.Elicitation.Form == nil && can.Elicitation.URL != nil {
		return c.result()
	}
	form := &mcp.ElicitParams{Message: strings.TrimSpace(s.Title + ". " + s.Message), RequestedSchema: schema}
	if p := c.req.Session.InitializeParams(); p == nil || p.ProtocolVersion >= multiRoundTrip {
		c.session.ask(c.state.ID, s.ID)
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: form}, RequestState: c.state.ID}
	}
	answer, err := c.req.Session.Elicit(ctx, form)
	if err != nil || !c.choose(ctx, c.state.ID, s.ID, answer) {
		return c.result()
	}
	return nil
}

// choose answers a suggestion; false: nothing was chosen, and it stays open.
func (c *call) choose(ctx context.Context, run, suggestion string, answer *mcp.ElicitResult) bool {
	if answer == nil || answer.Action != "accept" {
		return false
	}
	action, _ := answer.Content["action"].(string)
	if action == "" {
		return false
	}
	err := c.runs.Recover(ctx, run, suggestion, action)
	return err == nil || errors.Is(err, recovery.ErrAnswered) // somebody else answered it
}

// choices is a form with the buttons that the runner carries out; nil if there are none.
func choices(s *recovery.Suggestion) *jsonschema.Schema {
	var all []*jsonschema.Schema
	for _, b := range s.Actions {
		if b.Effect == recovery.EffectRunner {
			id := any(b.ID)
			all = append(all, &jsonschema.Schema{Const: &id, Title: b.Label})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &jsonschema.Schema{
		Type: "object", Required: []string{"action"},
		Properties: map[string]*jsonschema.Schema{"action": {Type: "string", Title: cmp.Or(s.Title, "What next?"), OneOf: all}},
	}
}

// result is the outcome of the run.
func (c *call) result() *mcp.CallToolResult {
	r := &mcp.CallToolResult{Meta: mcp.Meta{"run": c.state.ID, "model": c.state.Model}}
	text := c.state.Answer()
	if s := c.state.OpenSuggestion(time.Now()); s != nil {
		r.Meta["recoverySuggestion"] = s
		text = unanswered(s, c.state.ID)
	} else if f := c.state.Open; c.state.Status != recovery.StatusCompleted && f != nil {
		text = f.Failure.Line()
	}
	r.IsError = c.state.Status != recovery.StatusCompleted
	r.Content = []mcp.Content{&mcp.TextContent{Text: cmp.Or(text, "The run has ended: "+string(c.state.Status)+".")}}
	return r
}

// unanswered says what a person can do elsewhere.
func unanswered(s *recovery.Suggestion, run string) string {
	text := strings.TrimSpace(s.Title+". "+s.Message) + "\nIt can go on: `mulligan recover " + run + "`."
	for _, b := range s.Actions {
		if b.Effect == recovery.EffectRunner {
			text += "\n- " + b.Label
		}
	}
	return text
}
