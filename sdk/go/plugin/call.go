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

// Call is a model call that is about to begin. It contains no secrets and, apart from
// Transcript, no prompts and no tools' arguments or results.
type Call struct {
	Run, Session string
	SessionKey   string // the caller's name for its conversation; "" = not given
	AgentID      string // the caller's name for its agent; "" = not given
	Labels       map[string]string
	Model        string                 // about to be asked, provider/model
	About        recovery.Alternative   // what is known about it
	Alternatives []string               // what Route may name, in order of preference
	Models       []recovery.Alternative // Alternatives, with what is known about them

	Round       int // which model call of the run it is, from 1
	Attempt     int // within this model call, from 0
	Tried       []recovery.Tried
	Summary     bool  // it only summarises old turns of a conversation that is too long
	InputTokens int64 // estimated
	Tools       []string
	Images      bool // the conversation contains pictures
	Schema      bool // the answer must match a JSON schema
	FailedKinds []failure.Kind
	RecentCalls []recovery.RecentCall
	Holds       int // how often this call was already held
	AutoRecover bool

	Spent         recovery.Budget
	Remaining     recovery.Budget // 0 = unlimited, -1 = used up
	Elapsed       time.Duration   // since the run began, without long deliberate waits
	RemainingTime time.Duration   // 0 = unlimited, negative = used up
	Time          time.Time       // when it is about to begin, in UTC
	DryRun        bool            // the answer has no effect: do nothing with effects outside the plugin

	// Transcript is as in Event.
	Transcript []llm.Message
}

// Verdict is the answer about a call that is about to begin. The zero value is no opinion: it may
// begin.
type Verdict struct {
	Action recovery.Action // recovery.ActionAllow, ActionRoute, ActionHold or ActionRefuse
	Model  string          // for a route: one of Call.Alternatives
	Until  time.Time       // for a hold, within 7 days: then the plugins are asked again
	Reason string          // for people; at most 500 bytes are kept
}

// Allow lets the call begin.
var Allow = Verdict{Action: recovery.ActionAllow}

// Route asks another model instead, one of Call.Alternatives.
func Route(model, reason string) Verdict {
	return Verdict{Action: recovery.ActionRoute, Model: model, Reason: reason}
}

// Hold makes the call wait.
func Hold(until time.Time, reason string) Verdict {
	return Verdict{Action: recovery.ActionHold, Until: until, Reason: reason}
}

// Refuse prevents the model from being asked for this call, whoever wants it.
func Refuse(reason string) Verdict { return Verdict{Action: recovery.ActionRefuse, Reason: reason} }

// WithBeforeCall makes the plugin take the occasion before_call: if the host's configuration asks
// for it, decide is called before every model call. It has 500 ms. An error is no opinion or,
// with fail_closed in the host's configuration, a refusal.
func WithBeforeCall(decide func(ctx context.Context, c Call) (Verdict, error)) Option {
	return func(s *server) { s.beforeCall = decide }
}

// BeforeCall implements the service.
func (s *server) BeforeCall(ctx context.Context, m *mulliganv1.BeforeCallRequest) (_ *mulliganv1.BeforeCallResponse, err error) {
	if s.beforeCall == nil {
		return s.UnimplementedRecoveryPluginServer.BeforeCall(ctx, m)
	}
	defer s.survive(&err)
	v, err := s.beforeCall(withLog(ctx, s.lines, m.GetRun(), m.GetSession()), newCall(m))
	if err != nil {
		return nil, status.Error(codes.Unknown, words.Clip(err.Error(), maxError))
	}
	return protoconv.VerdictToProto(recovery.Vote{Action: v.Action, NewModel: v.Model, Until: v.Until, Reason: v.Reason}), nil
}

func newCall(m *mulliganv1.BeforeCallRequest) Call {
	e := protoconv.BeforeCallFromProto(m)
	c := Call{
		Run: e.Run, Session: e.Session, SessionKey: e.SessionKey, AgentID: e.AgentID, Labels: e.Labels,
		Model: e.Model.Model, About: e.Model, Models: e.Alternatives,
		Round: e.Round, Attempt: e.Attempt, Tried: e.Tried, Summary: e.Summary, InputTokens: e.InputTokens, Tools: e.Tools, Images: e.Images,
		Schema: e.Schema, FailedKinds: e.FailedKinds, RecentCalls: e.RecentCalls,
		Holds: e.Holds, AutoRecover: e.AutoRecover, Spent: e.Spent, Remaining: e.Remaining,
		Elapsed: e.Elapsed.Duration(), RemainingTime: e.RemainingTime.Duration(), Time: e.Time, DryRun: e.DryRun, Transcript: e.Transcript,
	}
	for _, a := range e.Alternatives {
		c.Alternatives = append(c.Alternatives, a.Model)
	}
	return c
}
