package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// MaxToolResult is the most text of a tool's result that a model gets, in bytes.
const MaxToolResult = 256 << 10

// Tool is a Go function that models may call. Calls of one answer run side by side.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; nil = an object with anything in it
	// Safety says whether a call whose outcome is unknown (the process died while it
	// ran) may be run again: the default is never.
	Safety  recovery.Safety
	Timeout time.Duration // 0 = the policy's, 10 min by default
	// Run does the work. Its error goes to the model as the call's result. It should
	// return soon after ctx ends.
	Run func(ctx context.Context, call ToolCall) (string, error)
}

// ToolCall is one call of a Tool.
type ToolCall struct {
	ID   string
	Args json.RawMessage // a JSON object
	// IdempotencyKey is the same for every try of this call and unlike any other's.
	IdempotencyKey string
}

func (t Tool) decl() recovery.ToolDecl {
	return recovery.ToolDecl{
		Tool:   llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema},
		Safety: t.Safety, Timeout: recovery.InMillis(t.Timeout),
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
	limit := l.toolLimit(tool)
	go func() {
		began := time.Now()
		toolCtx, cancel := ctx, context.CancelFunc(func() {})
		if limit > 0 {
			toolCtx, cancel = context.WithTimeoutCause(ctx, limit, &expiredError{recovery.TimerTool, recovery.InMillis(limit)})
		}
		defer cancel()
		end := l.callTool(toolCtx, tool, known, r)
		end.Elapsed = recovery.InMillis(time.Since(began))
		l.finish(key, j, func(ctx context.Context) error { return l.toolEnded(ctx, end) })
	}()
	return nil
}

// toolEnd is how a tool call ended.
type toolEnd struct {
	recovery.ToolReturned
	panicked *recovery.Failure
}

// callTool runs the tool and waits for it, or for its context and a moment more.
func (l *loop) callTool(ctx context.Context, tool Tool, known bool, r *recovery.RunTool) toolEnd {
	if !known {
		return errorResult(r.Call, fmt.Sprintf("there is no tool called %q", r.Call.Name))
	}
	ended := make(chan toolEnd, 1)
	go func() { ended <- l.protect(ctx, tool, r) }()
	select {
	case end := <-ended:
		return end
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case end := <-ended:
		return end
	case <-grace.C:
		end := errorResult(r.Call, fmt.Sprintf("%s was stopped (%v) and did not end: it may or may not have taken effect", r.Call.Name, context.Cause(ctx)))
		end.Outcome = recovery.OutcomeUnknown
		return end
	}
}

func (l *loop) protect(ctx context.Context, tool Tool, r *recovery.RunTool) (end toolEnd) {
	defer func() {
		if p := recover(); p != nil {
			l.r.logger.Error("a tool panicked", "run", l.id, "tool", tool.Name, "panic", p, "stack", string(debug.Stack()))
			end = errorResult(r.Call, tool.Name+" broke and may or may not have taken effect")
			end.panicked = recovery.Panicked(p, recovery.PhaseTool)
			end.panicked.Tool = tool.Name
		}
	}()
	text, err := tool.Run(ctx, ToolCall{ID: r.Call.ID, Args: r.Call.Args, IdempotencyKey: r.Intent.Key})
	if err != nil {
		if expired, ok := errors.AsType[*expiredError](context.Cause(ctx)); ok {
			err = fmt.Errorf("%s: %w", expired.Error(), err)
		}
		return errorResult(r.Call, err.Error())
	}
	return toolEnd{ToolReturned: recovery.ToolReturned{
		CallID: r.Call.ID, Outcome: recovery.OutcomeOK,
		Result: llm.ToolResult{CallID: r.Call.ID, Name: r.Call.Name, Text: recovery.Clip(text, MaxToolResult)},
	}}
}

func errorResult(call llm.ToolCall, text string) toolEnd {
	return toolEnd{ToolReturned: recovery.ToolReturned{
		CallID: call.ID, Outcome: recovery.OutcomeError,
		Result: llm.ToolResult{CallID: call.ID, Name: call.Name, Text: recovery.Clip(text, MaxToolResult), IsError: true},
	}}
}

// toolEnded writes a tool's result. A run that has ended meanwhile only notes it.
func (l *loop) toolEnded(ctx context.Context, end toolEnd) error {
	if l.run.End != nil {
		return l.write(ctx, recovery.Noted{Topic: "tool_late/" + end.Result.Name})
	}
	if end.panicked != nil && !l.run.Settled() {
		return l.write(ctx, end.ToolReturned, recovery.Failed{CallID: end.CallID, Failure: *end.panicked})
	}
	return l.write(ctx, end.ToolReturned)
}

func (l *loop) tool(name string) (Tool, bool) {
	for _, t := range l.r.tools {
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
