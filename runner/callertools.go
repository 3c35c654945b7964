package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxCallerTools is how many CallerTools a run may have.
const maxCallerTools = 128

// callerStay is how long a process keeps a run that waits only for its caller's tool, before it
// parks the run: most programs answer soon, and taking a run up again costs more than that.
const callerStay = 30 * time.Second

// ToolError says which of a request's CallerTools, or of its tools' results, cannot be accepted.
type ToolError struct {
	Index int
	Field string // of the tool or result, as in JSON
	Err   error
}

// Error says what is wrong.
func (e *ToolError) Error() string { return e.Err.Error() }

// Unwrap gives the error without its place.
func (e *ToolError) Unwrap() error { return e.Err }

// CallResult is the result of a tool call that a run's caller carried out.
type CallResult struct {
	CallID string
	Text   string // at most MaxToolResult bytes
	Failed bool   // Text says what went wrong: the model is told
}

// declareCallerTools adds the tools that the run's caller carries out.
func (r *Runner) declareCallerTools(s *recovery.Started, own []Tool, theirs []recovery.ToolDecl) error {
	if len(theirs) == 0 {
		return nil
	}
	if len(theirs) > maxCallerTools {
		return &ToolError{maxCallerTools, "name", fmt.Errorf("there are %d tools; a run may have %d of its caller's", len(theirs), maxCallerTools)}
	}
	if err := r.refuseEngine([]string{s.Model}); err != nil {
		return &ToolError{0, "name", fmt.Errorf("%s runs tools of its own, and none of its caller's", s.Model)}
	}
	s.Policy.Models = slices.DeleteFunc(slices.Clone(s.Policy.Models), func(name string) bool { return r.refuseEngine([]string{name}) != nil })
	own = slices.DeleteFunc(slices.Clone(own), func(t Tool) bool { return !slices.ContainsFunc(s.Policy.Models, t.isFor) })
	for i, t := range theirs {
		if field, err := r.checkCallerTool(t, own, theirs[:i]); err != nil {
			return &ToolError{i, field, err}
		}
		t.By = recovery.ByCaller
		s.Tools = append(s.Tools, t)
	}
	return nil
}

func (r *Runner) checkCallerTool(t recovery.ToolDecl, own []Tool, before []recovery.ToolDecl) (field string, err error) {
	switch {
	case !toolName.MatchString(t.Name):
		return "name", errors.New("a name is 1 to 64 letters, digits, '_' and '-'")
	case slices.ContainsFunc(own, func(o Tool) bool { return o.Name == t.Name }):
		return "name", fmt.Errorf("there is a tool called %s here already: give yours another name", t.Name)
	case slices.ContainsFunc(before, func(o recovery.ToolDecl) bool { return o.Name == t.Name }):
		return "name", fmt.Errorf("there are two tools called %s", t.Name)
	case t.Safety != recovery.SafetyUnsafe && !t.Safety.Repeatable():
		return "safety", fmt.Errorf("it is %s or %s; leave it out where a call must not be repeated", recovery.SafetyReadOnly, recovery.SafetyIdempotent)
	case t.Timeout < 0 || t.Timeout > recovery.MaxCallerTime || t.Timeout > 0 && t.Timeout.Duration() < r.minTimeout:
		return "timeoutMs", fmt.Errorf("it is from %s to %s; 0 is the usual time for a tool", words.Duration(r.minTimeout), words.Duration(recovery.MaxCallerTime.Duration()))
	}
	if len(t.Schema) > 0 {
		if _, err := r.schemas.ofText(t.Schema); err != nil {
			return "schema", err
		}
	}
	return "", nil
}

// callersTools are the tools that the run's caller carries out, with what is needed to check
// arguments against their schemas.
func (l *loop) callersTools() []Tool {
	var tools []Tool
	for _, t := range l.run.Tools {
		if t.By == recovery.ByCaller {
			tools = append(tools, Tool{Name: t.Name, Schema: t.Schema})
		}
	}
	return tools
}

// fitsSchema keeps a call with arguments that do not match from whoever would be asked about it, the
// run's caller or a person who has to approve it: the model is told instead.
func (l *loop) fitsSchema(run *recovery.Run, e recovery.Effect) hold {
	id := ""
	switch b := e.Record.(type) {
	case recovery.ToolBegan:
		if b.By == recovery.ByCaller {
			id = b.CallID
		}
	case recovery.Suggested:
		id = b.CallID
	}
	i := slices.IndexFunc(run.Pending, func(t *recovery.ToolRun) bool { return id != "" && t.Call.ID == id })
	if i < 0 {
		return hold{}
	}
	call := run.Pending[i].Call
	tool, known := l.tool(call.Name)
	for _, t := range l.callersTools() {
		if t.Name == call.Name {
			tool, known = t, true
		}
	}
	if !known {
		return hold{}
	}
	if problem := l.r.misfit(context.Background(), tool, call); problem != "" {
		return hold{why: reasonMisfit, first: errorResult(call, problem).ToolReturned}
	}
	return hold{}
}

// awaitCaller keeps a run that waits for its caller in this process for a while, before it is
// parked.
func (l *loop) awaitCaller(run *recovery.Run, e recovery.Effect) hold {
	if e.Timer == nil || !l.parksForTool() {
		return hold{}
	}
	if _, gives := e.Timer.Write.(recovery.ToolReturned); !gives {
		return hold{}
	}
	stay := callerStay - l.clock.now().Sub(run.Last)
	if stay <= 0 {
		return hold{}
	}
	return hold{why: reasonCaller, until: time.Now().Add(stay)}
}

// parksForTool reports whether all that is left to do is to wait for the caller, for longer than a
// process should.
func (l *loop) parksForTool() bool {
	w := l.run.Wait
	return w != nil && w.For == recovery.WaitTool && w.Until.Sub(l.clock.now()) > recovery.MaxInProcessWait.Duration()
}

// ReturnResults gives a run the results of tool calls that its caller was asked for, and makes it
// go on. Either all are accepted or, with a *ToolError, none: recovery.Run.Return says why one is
// not. The same result may be given again. It returns when the run's owner has written them. If
// another process drives the run and does not do so within 3 s, the error is ErrSent: the results
// are durable, and will be written.
func (r *Runner) ReturnResults(ctx context.Context, id string, results ...CallResult) error {
	state, err := r.Inspect(ctx, id)
	if err != nil {
		return err
	}
	commands, err := r.returning(state, results)
	if err != nil || len(commands) == 0 {
		return err
	}
	last := len(commands) - 1
	for _, c := range commands[:last] {
		if _, err := r.log.Send(ctx, id, c); err != nil {
			return fmt.Errorf("run %s: %w", id, err)
		}
	}
	became, err := r.tell(ctx, state, commands[last])
	if err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	if became == unheard {
		return fmt.Errorf("run %s: %w", id, ErrSent)
	}
	if state, err = r.Inspect(ctx, id); err != nil {
		return err
	}
	left, err := r.returning(state, results)
	if err == nil && len(left) > 0 { // they were sent, but are not written yet
		return fmt.Errorf("run %s: %w", id, ErrSent)
	}
	return err
}

// returning makes the commands for those of the results that the run does not have yet.
func (r *Runner) returning(state *recovery.Run, results []CallResult) ([]timeline.Command, error) {
	var commands []timeline.Command
	seen := map[string]bool{}
	for i, result := range results {
		if seen[result.CallID] {
			return nil, &ToolError{i, "callId", errors.New("it is there twice")}
		}
		seen[result.CallID] = true
		if len(result.Text) > MaxToolResult {
			return nil, &ToolError{i, "text", fmt.Errorf("it has %d bytes; a result has at most %d: shorten it, or give the model a way to read the rest", len(result.Text), MaxToolResult)}
		}
		text := result.Text
		if clean, ok := r.models.(Redactor); ok {
			text = clean.Redact(text)
		}
		body, err := state.Return(result.CallID, text, result.Failed)
		if errors.Is(err, recovery.ErrSameResult) {
			continue
		}
		if err != nil {
			return nil, &ToolError{i, "callId", err}
		}
		commands = append(commands, timeline.Command{ID: commandOf(state, result.CallID), Body: body})
	}
	return commands, nil
}

// commandOf is the id of the command that gives a call its result. It is the same for every result
// of one try of the call, whoever sends it, so only the first counts.
func commandOf(state *recovery.Run, callID string) string {
	try := 0
	for _, c := range state.Awaited() {
		if c.ID == callID {
			try = c.Try
		}
	}
	return fmt.Sprintf("tool/%d/%d/%s", state.Rounds, try, callID)
}
