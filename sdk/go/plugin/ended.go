package plugin

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// Ended is how a run ended, and what it used. It contains no secrets, prompts or answers.
type Ended struct {
	Run, Session   string
	SessionKey     string // the caller's name for its conversation; "" = not given
	AgentID        string // the caller's name for its agent; "" = not given
	Labels         map[string]string
	Status         recovery.Status // completed, failed or cancelled
	StopReason     string
	ChosenModel    string // the one asked for
	Model          string // the last one called
	Recovered      bool   // it completed although attempts had failed
	Attempts       int    // model calls begun
	FailedAttempts int    // of these
	Switches       int    // to another model after a failure
	Kinds          []failure.Kind
	RecoveryTime   time.Duration   // from a call's first failure to its answer, summed over all calls that were answered in the end
	Wasted         recovery.Budget // the cost of failed attempts, as far as it is known
	Spent          recovery.Budget
	Elapsed        time.Duration
	Time           time.Time        // when it ended, in UTC
	Failure        *failure.Failure // the failure that ended it; nil = none
	DryRun         bool             // do nothing with effects outside the plugin
}

// WithRunEnded makes the plugin take the occasion run_ended: heard is called when a run has ended,
// normally once. Nobody waits for it, and an error is only logged.
func WithRunEnded(heard func(ctx context.Context, e Ended) error) Option {
	return func(s *server) { s.runEnded = heard }
}

// RunEnded implements the service.
func (s *server) RunEnded(ctx context.Context, m *mulliganv1.RunEndedRequest) (_ *mulliganv1.RunEndedResponse, err error) {
	if s.runEnded == nil {
		return s.UnimplementedRecoveryPluginServer.RunEnded(ctx, m)
	}
	defer s.survive(&err)
	if err := s.runEnded(withLog(ctx, s.lines, m.GetRun(), m.GetSession()), newEnded(m)); err != nil {
		return nil, status.Error(codes.Unknown, words.Clip(err.Error(), maxError))
	}
	return &mulliganv1.RunEndedResponse{}, nil
}

func newEnded(m *mulliganv1.RunEndedRequest) Ended {
	e := protoconv.RunEndedFromProto(m)
	return Ended{
		Run: e.Run, Session: e.Session, SessionKey: e.SessionKey, AgentID: e.AgentID, Labels: e.Labels,
		Status: e.Status, StopReason: e.StopReason, ChosenModel: e.ChosenModel, Model: e.Model, Recovered: e.Recovered,
		Attempts: e.Attempts, FailedAttempts: e.FailedAttempts, Switches: e.Trouble.Switches, Kinds: e.Trouble.Kinds,
		RecoveryTime: e.Trouble.Took.Duration(), Wasted: e.Trouble.Wasted, Spent: e.Spent,
		Elapsed: e.Elapsed.Duration(), Time: e.Time, Failure: e.Failure, DryRun: e.DryRun,
	}
}

// occasions are those that the plugin takes in addition to run_error.
func (s *server) occasions() []string {
	var list []string
	if s.beforeCall != nil {
		list = append(list, recovery.HookBeforeCall)
	}
	if s.toolError != nil {
		list = append(list, recovery.HookToolError)
	}
	if s.runEnded != nil {
		list = append(list, recovery.HookRunEnded)
	}
	return list
}
