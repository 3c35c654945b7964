package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// answerGrace is how much longer an answer may take to arrive if it came just before its connection
// ended.
const answerGrace = 100 * time.Millisecond

type answer struct {
	result *sdk.CallToolResult
	err    error
}

// call makes one call of a tool. If its outcome is unknown and it must not be repeated, the error
// wraps [runner.ErrOutcomeUnknown].
func (s *server) call(ctx context.Context, tool string, safety recovery.Safety, call runner.ToolCall) (string, error) {
	l, err := s.running(ctx)
	if err != nil {
		return "", fmt.Errorf("%w; nothing was done", err)
	}
	sending, refused := withRefusals(ctx)
	sending, cancel := context.WithCancel(sending)
	defer cancel()
	params := &sdk.CallToolParams{Name: tool, Arguments: call.Args, Meta: sdk.Meta{}}
	token, done := s.underway.begin(ctx)
	defer done()
	params.SetProgressToken(token)
	answered := make(chan answer, 1)
	go func() {
		result, err := l.session.CallTool(sending, params)
		answered <- answer{result, err}
	}()
	select {
	case a := <-answered:
		return s.outcome(ctx, l, safety, a, refused.get())
	case <-l.failed:
	case <-ctx.Done():
		return "", s.abandoned(ctx, l, safety)
	}
	select {
	case a := <-answered:
		return s.outcome(ctx, l, safety, a, refused.get())
	case <-time.After(answerGrace):
		return "", s.lost(ctx, safety, l.err)
	}
}

// outcome gives the result of a call, or the error that says why there is none.
func (s *server) outcome(ctx context.Context, l *link, safety recovery.Safety, a answer, refused refusal) (string, error) {
	wire, spoke := errors.AsType[*jsonrpc.Error](a.err)
	switch {
	case a.err == nil:
		return resultText(a.result)
	case refused.err != nil:
		if refused.unreachable {
			l.fail(refused.err)
		}
		return "", fmt.Errorf("the MCP server %s: %s; nothing was done", s.spec.Name, printable(refused.err.Error(), maxErrorText))
	case spoke && wire.Code != codeNotSent && !errors.Is(a.err, sdk.ErrConnectionClosed):
		return "", fmt.Errorf("the MCP server %s: %s", s.spec.Name, printable(wire.Message, maxErrorText))
	}
	if ctx.Err() != nil {
		return "", s.abandoned(ctx, l, safety)
	}
	return "", s.lost(ctx, safety, l.reason(a.err))
}

// abandoned is the error of a call whose context ended before the call did. It also checks whether
// the server hangs.
func (s *server) abandoned(ctx context.Context, l *link, safety recovery.Safety) error {
	go l.probe(s.pace.ping)
	return s.lost(ctx, safety, context.Cause(ctx))
}

// reason says why a call that failed with err was not answered. If the server is a process, it has
// then ended or can no longer be used; a server elsewhere may have broken off only this answer.
func (l *link) reason(err error) error {
	patience := answerGrace
	if l.process != nil {
		patience = 2 * time.Second
	}
	select {
	case <-l.failed:
	case <-time.After(patience):
		if l.process == nil {
			return err
		}
		l.fail(err)
	}
	return l.err
}

const (
	maxErrorText = 2 << 10
	codeNotSent  = -32005 // the SDK's own, for failures of its transport
)

// lost is the error of a call with an unknown outcome.
func (s *server) lost(ctx context.Context, safety recovery.Safety, cause error) error {
	why := fmt.Errorf("the MCP server %s did not end the call (%w)", s.spec.Name, cause)
	if ctx.Err() == nil {
		why = fmt.Errorf("the MCP server %s broke while it ran the call: %s", s.spec.Name, printable(cause.Error(), maxErrorText))
	}
	switch safety {
	case recovery.SafetyReadOnly:
		return fmt.Errorf("%w; the tool changes nothing and may be called again", why)
	case recovery.SafetyIdempotent:
		return fmt.Errorf("%w; the tool may be called again with the same arguments", why)
	case recovery.SafetyUnsafe:
	}
	return fmt.Errorf("%w: %w", why, runner.ErrOutcomeUnknown)
}
