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

// ToolError is a tool call that failed, before the model is told. It holds no secret and, apart from
// Error and Transcript, no prompt and no tool's arguments or results.
type ToolError struct {
	Run, Session string
	SessionKey   string // what the caller calls its conversation; "" = it did not say
	AgentID      string // what the caller calls its agent; "" = it did not say
	Labels       map[string]string

	Tool           string // that failed
	CallID         string // the id that the model gave the call
	Safety         recovery.Safety
	Tries          int // how often the call was made
	RemainingTries int // how often it may still be made; 0 = it is never repeated
	Failures       int // of this tool in this run, this one included
	TimedOut       bool
	Took           time.Duration
	Model          string // that asked for the call
	Round          int    // which model call of the run asked for it, from 1
	AutoRecover    bool   // where it is false a person is asked in the place of a retry

	Spent         recovery.Budget
	Remaining     recovery.Budget // 0 = unlimited, -1 = used up
	Elapsed       time.Duration   // since the run began, deliberate long waits left out
	RemainingTime time.Duration   // 0 = unlimited, negative = used up
	Time          time.Time       // when it failed, in UTC
	DryRun        bool            // nothing comes of the answer: do nothing that can be felt outside

	// Error is what the tool said, at most 8 KiB, and Transcript what was said in the run so far;
	// both are empty unless a person granted the transcript.
	Error      string
	Transcript []llm.Message
}

// ToolAdvice is what is said of a tool that failed. The zero value is no opinion: the model is told
// what the tool said.
type ToolAdvice struct {
	Action recovery.Action // recovery.ActionRetry, ActionTell or ActionAsk
	Delay  time.Duration   // of a retry, at most a minute
	Words  string          // of a tell: what the model is told, at most 8 KiB
	Reason string          // for people, at most 500 bytes are kept
}

// RunAgain has the same call made again after a while, where the tool may run twice and
// ToolError.RemainingTries allows it.
func RunAgain(after time.Duration, reason string) ToolAdvice {
	return ToolAdvice{Action: recovery.ActionRetry, Delay: after, Reason: reason}
}

// Tell has the model told words in the place of what the tool said.
func Tell(words, reason string) ToolAdvice {
	return ToolAdvice{Action: recovery.ActionTell, Words: words, Reason: reason}
}

// Ask has a person asked.
func Ask(reason string) ToolAdvice { return ToolAdvice{Action: recovery.ActionAsk, Reason: reason} }

// WithToolError has the plugin take the occasion tool_error: decide is asked about every tool of the
// host's own that fails, before the model is told, where the host's configuration says so. An error
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
