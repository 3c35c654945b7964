package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// verdictWithin is how long a host waits before a model call.
const verdictWithin = 500 * time.Millisecond

// shaped is an occasion beside run_error, in one of the circumstances in which it comes.
type shaped struct {
	name  string
	about proto.Message
}

// occasionQuestions has a question about each of the occasions that a plugin offers. Every answer that
// a host can take will do.
func occasionQuestions(offered []string) (list []question) {
	for _, q := range []question{
		{Name: recovery.HookBeforeCall, occasions: callShapes(), within: slack * verdictWithin},
		{Name: recovery.HookToolError, occasions: toolShapes()},
		{Name: recovery.HookRunEnded, occasions: endShapes()},
	} {
		if slices.Contains(offered, q.Name) {
			list = append(list, q)
		}
	}
	return list
}

// variant is a message with something changed.
func variant[M proto.Message](m M, change func(M)) M {
	changed := proto.CloneOf(m)
	change(changed)
	return changed
}

func callShapes() []shaped {
	at := timestamppb.New(occasionTime)
	first := &mulliganv1.BeforeCallRequest{
		Run: "run-1", Model: &mulliganv1.Alternative{Model: askedModel, ContextTokens: 200_000}, Round: 1, InputTokens: 1200,
		Alternatives: []*mulliganv1.Alternative{{Model: otherModel, ContextTokens: 200_000}}, AutoRecover: true, Time: at, DryRun: true,
	}
	again := variant(first, func(m *mulliganv1.BeforeCallRequest) {
		m.Round, m.Attempt, m.Holds, m.FailedKinds = 2, 1, 1, []string{string(failure.KindOverloaded)}
		m.Tried = []*mulliganv1.Tried{{Model: askedModel, Code: string(failure.KindOverloaded.Code()), At: at, Ms: 700}}
	})
	last := variant(first, func(m *mulliganv1.BeforeCallRequest) {
		m.Alternatives, m.RemainingMs, m.Remaining = nil, -1, &mulliganv1.Budget{Tokens: -1, Microdollars: -1}
	})
	return []shaped{{"first call", first}, {"after a failure and a pause", again}, {"nothing left", last}}
}

func toolShapes() []shaped {
	first := &mulliganv1.ToolErrorRequest{
		Run: "run-1", Tool: "search", CallId: "call-1", Safety: mulliganv1.ToolSafety_TOOL_SAFETY_READ_ONLY, Tries: 1, RemainingTries: 2, Failures: 1,
		TookMs: 700, Model: askedModel, Round: 1, AutoRecover: true, Time: timestamppb.New(occasionTime), DryRun: true,
	}
	late := variant(first, func(m *mulliganv1.ToolErrorRequest) {
		m.TimedOut, m.Tries, m.RemainingTries, m.Failures = true, 2, 1, 2
	})
	once := variant(first, func(m *mulliganv1.ToolErrorRequest) {
		m.Tool, m.Safety, m.RemainingTries = "send_mail", mulliganv1.ToolSafety_TOOL_SAFETY_UNSAFE, 0
	})
	return []shaped{{"a tool that may run again", first}, {"timed out", late}, {"a tool that may not run twice", once}}
}

func endShapes() []shaped {
	end := &mulliganv1.RunEndedRequest{
		Run: "run-1", Status: string(recovery.StatusCompleted), StopReason: string(recovery.StatusCompleted), ChosenModel: askedModel, Model: askedModel,
		Attempts: 1, Time: timestamppb.New(occasionTime), DryRun: true,
	}
	saved := variant(end, func(m *mulliganv1.RunEndedRequest) {
		m.Recovered, m.Attempts, m.FailedAttempts, m.Model = true, 2, 1, otherModel
	})
	lost := variant(end, func(m *mulliganv1.RunEndedRequest) {
		m.Status, m.FailedAttempts, m.Failure = string(recovery.StatusFailed), 1, eventOf(failure.KindAuth).GetFailure()
	})
	return []shaped{{"completed", end}, {"recovered", saved}, {"failed", lost}}
}

// answerTo is what the plugin says to an occasion, as a host takes it.
func (p *Plugin) answerTo(ctx context.Context, s shaped, within time.Duration) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	a.Shape = s.name
	switch m := s.about.(type) {
	case *mulliganv1.BeforeCallRequest:
		var said *mulliganv1.BeforeCallResponse
		if said, err = p.service.BeforeCall(ctx, m); err == nil {
			a.Vote, err = protoconv.Verdict(protoconv.BeforeCallFromProto(m), said)
		}
	case *mulliganv1.ToolErrorRequest:
		var said *mulliganv1.ToolErrorResponse
		if said, err = p.service.ToolError(ctx, m); err == nil {
			a.Vote, err = protoconv.ToolAdvice(said)
		}
	case *mulliganv1.RunEndedRequest:
		_, err = p.service.RunEnded(ctx, m)
	default:
		err = fmt.Errorf("%T is not an occasion", m)
	}
	a.Took = time.Since(began)
	return a, err
}
