package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// MaxToolResult is the most text of a tool's result that a model gets, in bytes.
const MaxToolResult = 256 << 10

// ErrOutcomeUnknown is what the error of a tool wraps if the call may or may not have taken effect.
// The call is then never repeated automatically, and people are told.
var ErrOutcomeUnknown = errors.New("it may or may not have taken effect")

// Tool is a Go function that models may call. The calls of one answer run in parallel.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; nil = any object
	// Safety says whether a call whose outcome is unknown (because the process died while it ran)
	// may be run again: the default is never.
	Safety  recovery.Safety
	Timeout time.Duration // 0 = the policy's, 10 min by default
	// Needs are labels of the machine that it runs on: see WithMachine.
	Needs recovery.Labels
	// Approval says that a person is asked before each call: the run stops with a suggestion whose
	// buttons have the call made or refused, and Recover goes on.
	Approval bool
	// For reports whether a model gets the tool, by the model's full name; nil = every model does.
	For func(model string) bool
	// Run does the work. Its error is given to the model as the call's result. It should return
	// soon after ctx ends.
	Run func(ctx context.Context, call ToolCall) (string, error)

	wrong error // why ToolOf could not make a tool
}

// ToolCall is one call of a Tool.
type ToolCall struct {
	ID   string
	Args json.RawMessage // a JSON object
	// Run is the run that makes the call, Session its conversation, or "".
	Run, Session string
	Labels       recovery.Labels // of the run
	// IdempotencyKey is the same for every try of this call and different from any other call's.
	IdempotencyKey string
}

// isFor reports whether the model gets the tool.
func (t Tool) isFor(model string) bool { return t.For == nil || t.For(model) }

func (t Tool) decl() recovery.ToolDecl {
	return recovery.ToolDecl{
		Tool:   llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema},
		Safety: t.Safety, Timeout: failure.InMillis(t.Timeout), Approval: t.Approval,
	}
}

func (l *loop) runTool(ctx context.Context, key string, r *recovery.RunTool) error {
	if r.InAir {
		return fmt.Errorf("run %s: the call %s is said to be in the air and is not", l.id, r.Call.ID)
	}
	if err := l.write(ctx, r.Intent); err != nil {
		return err
	}
	ctx, j := l.launchJob(ctx, key)
	tool, known := l.tool(r.Call.Name)
	if r.Intent.By == recovery.ByEngine {
		tool, known = l.engineTool(r.Call), true
	}
	c := &toolCall{loop: l, tool: tool, known: known, run: r, call: l.toolCall(r), limit: l.toolLimit(tool), ended: make(chan toolEnd, 1)}
	l.tools++
	go c.drive(ctx, key, j)
	return nil
}

// toolCall is a call as its tool gets it.
func (l *loop) toolCall(r *recovery.RunTool) ToolCall {
	return ToolCall{
		ID: r.Call.ID, Args: r.Call.Args, IdempotencyKey: r.Intent.Key,
		Run: l.id, Session: l.run.Session, Labels: maps.Clone(l.run.Labels),
	}
}

// toolCall is one call of a tool, from its intent to the end of the tool itself.
type toolCall struct {
	loop  *loop
	tool  Tool
	known bool // the tool exists
	run   *recovery.RunTool
	call  ToolCall      // as the tool gets it
	limit time.Duration // 0 = none
	ended chan toolEnd
}

// drive runs the tool and tells the loop how it ended. If it is stopped and does not end, drive
// says so, and tells the loop later when it does end.
func (c *toolCall) drive(ctx context.Context, key string, j *job) {
	l, began := c.loop, time.Now()
	cancel := context.CancelFunc(func() {})
	if c.limit > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, c.limit, &expiredError{failure.TimerTool, failure.InMillis(c.limit)})
	}
	defer cancel()
	l.r.busy.Go(func() { c.ended <- c.protect(withProgress(ctx, c)) })
	end, ok := c.wait(ctx)
	end.Elapsed = failure.InMillis(time.Since(began))
	l.finish(key, j, func(ctx context.Context) error { return l.toolEnded(ctx, j, c.tool, end) })
	if !ok {
		<-c.ended
	}
	l.post(func(ctx context.Context) error {
		l.tools--
		if ok || l.run.End == nil {
			return nil
		}
		return l.write(ctx, c.late())
	})
}

// toolEnd is how a tool call ended.
type toolEnd struct {
	recovery.ToolReturned
	panicked *failure.Failure
}

// wait waits for the tool, or for its context and a moment more; it reports whether the tool has
// ended.
func (c *toolCall) wait(ctx context.Context) (toolEnd, bool) {
	select {
	case end := <-c.ended:
		return end, true
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case end := <-c.ended:
		return end, true
	case <-grace.C:
		name := c.run.Call.Name
		end := errorResult(c.run.Call, fmt.Sprintf("%s was stopped (%v) and did not end: it may or may not have taken effect", name, context.Cause(ctx)))
		end.Outcome = recovery.OutcomeUnknown
		if expired, ok := errors.AsType[*expiredError](context.Cause(ctx)); ok {
			end.Limit = expired.limit
		}
		return end, false
	}
}

func (c *toolCall) late() recovery.Noted {
	return recovery.Noted{Topic: recovery.TopicToolLate, What: c.run.Call.Name, CallID: c.run.Call.ID}
}

func (c *toolCall) protect(ctx context.Context) (end toolEnd) {
	tool, r := c.tool, c.run
	if !c.known {
		return notRun(r.Call, fmt.Sprintf("there is no tool called %q", r.Call.Name))
	}
	defer func() {
		if p := recover(); p != nil {
			c.loop.r.logger.Error("a tool panicked", "run", c.loop.id, "tool", tool.Name, "panic", p, "stack", string(debug.Stack()))
			end = c.crashed(p)
		}
	}()
	if err := c.loop.mayAct(ctx); err != nil {
		return notRun(r.Call, tool.Name+" was not begun: the run was stopped")
	}
	if problem := c.misfit(ctx); problem != "" {
		return notRun(r.Call, problem)
	}
	text, err := tool.Run(ctx, c.call)
	if err != nil {
		expired, ok := errors.AsType[*expiredError](context.Cause(ctx))
		if ok {
			err = fmt.Errorf("%s: %w", expired.Error(), err)
		}
		end := errorResult(r.Call, err.Error())
		if errors.Is(err, ErrOutcomeUnknown) && !tool.Safety.Repeatable() {
			end.Outcome = recovery.OutcomeUnknown
			if expired != nil {
				end.Limit = expired.limit
			}
		}
		return end
	}
	return toolEnd{ToolReturned: recovery.ToolReturned{
		CallID: r.Call.ID, Outcome: recovery.OutcomeOK,
		Result: llm.ToolResult{CallID: r.Call.ID, Name: r.Call.Name, Text: words.Clip(text, MaxToolResult)},
	}}
}

// misfit says what is wrong with the call's arguments; "" if nothing is. An engine checks calls of
// its own tools.
func (c *toolCall) misfit(ctx context.Context) string {
	if c.run.Intent.By == recovery.ByEngine {
		return ""
	}
	return c.loop.r.misfit(ctx, c.tool, c.run.Call)
}

// crashed is the end of a call whose tool panicked: that is a failure of the tool alone.
func (c *toolCall) crashed(value any) toolEnd {
	reason := "It crashed."
	if !c.tool.Safety.Repeatable() {
		reason = "It crashed, and may or may not have taken effect."
	}
	end := errorResult(c.run.Call, c.tool.Name+" failed. "+reason)
	f := failure.NewFailure(failure.KindToolFailure, failure.OriginTool, failure.PhaseTool, fmt.Errorf("panic: %v", value))
	f.Tool, f.Detail = c.tool.Name, words.Clip(fmt.Sprintf("panic: %v", value), failure.MaxDetail)
	f.Describe(failure.Words{Reason: reason})
	end.panicked = f
	return end
}

func errorResult(call llm.ToolCall, text string) toolEnd {
	return toolEnd{ToolReturned: recovery.ToolReturned{
		CallID: call.ID, Outcome: recovery.OutcomeError,
		Result: llm.ToolResult{CallID: call.ID, Name: call.Name, Text: words.Clip(text, MaxToolResult), IsError: true},
	}}
}

// notRun is the end of a call whose tool was not called.
func notRun(call llm.ToolCall, text string) toolEnd {
	end := errorResult(call, text)
	end.NotRun = true
	return end
}

// toolEnded writes a tool's result. A run that has ended by then only gets a note. A call that may
// be repeated and was stopped because the run is released has no result: the run's next owner
// repeats it.
func (l *loop) toolEnded(ctx context.Context, j *job, tool Tool, end toolEnd) error {
	switch {
	case l.run.End != nil && end.Outcome == recovery.OutcomeUnknown:
		return nil // it is noted when it ends
	case l.run.End != nil:
		return l.write(ctx, recovery.Noted{Topic: recovery.TopicToolLate, What: end.Result.Name, CallID: end.CallID})
	case l.leaving && j.stopping && end.Outcome != recovery.OutcomeOK && tool.Safety.Repeatable():
		return nil
	}
	if end.panicked != nil && !l.run.Settled() {
		return l.write(ctx, end.ToolReturned, recovery.Failed{CallID: end.CallID, Failure: *end.panicked})
	}
	return l.write(ctx, end.ToolReturned)
}

func (l *loop) tool(name string) (Tool, bool) {
	for _, t := range l.offered {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func (l *loop) toolLimit(t Tool) time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return l.run.Policy.Timeouts.Tool.Duration()
}
