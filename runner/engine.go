package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// conversation names the run's conversation for an engine, which keeps it.
func (l *loop) conversation() string { return cmp.Or(l.run.Session, l.id) }

// engaged is the engine that works for a run, if one does.
type engaged struct {
	mu      sync.Mutex
	engine  llm.Engine
	session string
}

// begin makes the engine, or none, work for the run. What another one does is ended first.
func (e *engaged) begin(engine llm.Engine, session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine != nil && e.engine != engine {
		e.engine.Release(e.session)
	}
	e.engine, e.session = engine, session
}

func (e *engaged) end() { e.begin(nil, "") }

// engage records whether the model is an engine.
func (a *attempt) engage(model llm.Model) {
	engine, ok := model.(llm.Engine)
	if ok {
		a.by = recovery.ByEngine
	}
	a.loop.engaged.begin(engine, a.request.Session)
}

// engineTool stands for a call of the last answer that its engine carries out: it waits for the
// result.
func (l *loop) engineTool(call llm.ToolCall) Tool {
	name, session := l.lastSpeaker(), l.conversation()
	return Tool{Name: call.Name, Run: func(ctx context.Context, _ ToolCall) (string, error) {
		result, err := l.r.resultOf(ctx, name, session, call)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w: %w", call.Name, ErrOutcomeUnknown, err)
		case result.IsError:
			return "", errors.New(result.Text)
		}
		return result.Text, nil
	}}
}

func (r *Runner) resultOf(ctx context.Context, name, session string, call llm.ToolCall) (llm.ToolResult, error) {
	model, err := r.models.Model(name)
	if err != nil {
		return llm.ToolResult{}, err
	}
	engine, ok := model.(llm.Engine)
	if !ok {
		return llm.ToolResult{}, fmt.Errorf("%s is no longer an engine", name)
	}
	return engine.Result(ctx, session, call, func(text string) { Progress(ctx, text) })
}

// lastSpeaker is the model that wrote the last answer.
func (l *loop) lastSpeaker() string {
	for i := len(l.run.Messages) - 1; i >= 0; i-- {
		if said := l.run.Messages[i]; said.Role == llm.RoleAssistant {
			return said.Model
		}
	}
	return ""
}
