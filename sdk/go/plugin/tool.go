package plugin

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// ToolError is a failed tool call, before the model is told. It contains no secrets and, apart from
// Error and Transcript, no prompts and no tools' arguments or results.
type ToolError struct {
	Run, Session string
	SessionKey   string // the caller's name for its conversation; "" = not given
	AgentID      string // the caller's name for its agent; "" = not given
	Labels       map[string]string

	Tool           string // the one that failed
	CallID         string // the id that the model gave the call
	Safety         recovery.Safety
	Tries          int // how often the call was made
	RemainingTries int // how often it may still be made; 0 = it must not be repeated
	Failures       int // of this tool in this run, including this one
	TimedOut       bool
	Took           time.Duration
	Model          string // the one that asked for the call
	Round          int    // which model call of the run asked for it, from 1
	AutoRecover    bool   // if false, a person is asked instead of a retry

	Spent         recovery.Budget
	Remaining     recovery.Budget // 0 = unlimited, -1 = used up
	Elapsed       time.Duration   // since the run began, without long deliberate waits
	RemainingTime time.Duration   // 0 = unlimited, negative = used up
	Time          time.Time       // when it failed, in UTC
	DryRun        bool            // the answer has no effect: do nothing with effects outside the plugin

	// Error is the tool's error, at most 8 KiB, and Transcript what was said in the run so far.
	// Both are empty unless a person granted the transcript.
	Error      string
	Transcript []llm.Message
}

// ToolAdvice is advice about a failed tool. The zero value is no opinion: the model is told the
// tool's error.
type ToolAdvice struct {
	Action recovery.Action // recovery.ActionRetry, ActionTell or ActionAsk
	Delay  time.Duration   // for a retry, at most a minute
	Words  string          // for a tell: what the model is told, at most 8 KiB
	Reason string          // for people; at most 500 bytes are kept
}

// RunAgain makes the same call again after a pause, if the tool may run twice and
// ToolError.RemainingTries allows it.
func RunAgain(after time.Duration, reason string) ToolAdvice {
	return ToolAdvice{Action: recovery.ActionRetry, Delay: after, Reason: reason}
}

// Tell tells the model words instead of the tool's error.
func Tell(words, reason string) ToolAdvice {
	return ToolAdvice{Action: recovery.ActionTell, Words: words, Reason: reason}
}

// Ask asks a person.
func Ask(reason string) ToolAdvice { return ToolAdvice{Action: recovery.ActionAsk, Reason: reason} }

// WithToolError makes the plugin take the occasion tool_error: if the host's configuration asks for
// it, decide is called for every failed tool of the host's own, before the model is told. An error
// is no opinion.
func WithToolError(decide func(ctx context.Context, e ToolError) (ToolAdvice, error)) Option {
	return func(s *server) { s.toolError = decide }
}

// ToolError implements the service.
func (s *server) ToolError(ctx context.Context, m *mulliganv1.ToolErrorRequest) (_ *mulliganv1.ToolErrorResponse, err error) {
	if s.toolError == nil {
		return s.UnimplementedRecoveryPluginServer.ToolError(ctx, m)
	}
	defer s.survive(&err)
	a, err := s.toolError(withLog(ctx, s.lines, m.GetRun(), m.GetSession()), newToolError(m))
	if err != nil {
		return nil, status.Error(codes.Unknown, words.Clip(err.Error(), maxError))
	}
	return protoconv.ToolAdviceToProto(recovery.Vote{Action: a.Action, Delay: failure.InMillis(a.Delay), Words: a.Words, Reason: a.Reason}), nil
}

func newToolError(m *mulliganv1.ToolErrorRequest) ToolError {
	e := protoconv.ToolErrorFromProto(m)
	return ToolError{
		Run: e.Run, Session: e.Session, SessionKey: e.SessionKey, AgentID: e.AgentID, Labels: e.Labels,
		Tool: e.Tool, CallID: e.CallID, Safety: e.Safety, Tries: e.Tries, RemainingTries: e.RemainingTries, Failures: e.Failures,
		TimedOut: e.TimedOut, Took: e.Took.Duration(), Model: e.Model, Round: e.Round, AutoRecover: e.AutoRecover,
		Spent: e.Spent, Remaining: e.Remaining, Elapsed: e.Elapsed.Duration(), RemainingTime: e.RemainingTime.Duration(),
		Time: e.Time, DryRun: e.DryRun, Error: e.Error, Transcript: e.Transcript,
	}
}
