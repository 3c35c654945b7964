package advice

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

func questionFromProto(m *mulliganv1.DecideRequest) Question {
	q := Question{
		Call: m.GetCall(), Attempt: int(m.GetAttempt()), Model: m.GetModel(), Alternatives: m.GetAlternatives(), AutoRecover: m.AutoRecover,
		Failure: evidenceFromProto(m.GetFailure()), PartialShown: m.GetPartialShown(),
		Tools:      Tools{Ran: m.GetTools().GetRan(), Unsafe: m.GetTools().GetUnsafe()},
		SessionKey: m.GetSessionKey(), AgentID: m.GetAgentId(), Aborted: m.GetAborted(), TimedOut: m.GetTimedOut(),
		PromptError: m.GetPromptError(), LastAssistant: m.GetLastAssistant(),
	}
	if b := m.GetBudget(); b != nil {
		q.Budget = &recovery.Budget{Tokens: b.GetTokens(), Microdollars: b.GetMicrodollars()}
	}
	for i, t := range m.GetTried() {
		tried := TriedCall{
			Attempt: i, Model: t.GetModel(), Kind: protoconv.KindFromProto(t.GetKind()), Code: failure.Code(t.GetCode()),
			Millis: failure.Millis(t.GetMs()),
		}
		if at := t.GetAt(); at.IsValid() {
			tried.At = at.AsTime()
		}
		q.Tried = append(q.Tried, tried)
	}
	return q
}

func evidenceFromProto(m *mulliganv1.Evidence) Evidence {
	return Evidence{
		Status: int(m.GetStatus()), Headers: m.GetHeaders(), Body: m.GetBody(), Message: m.GetMessage(), Code: m.GetCode(),
		Exception: m.GetException(), When: protoconv.PhaseFromProto(m.GetWhen()), Kind: protoconv.KindFromProto(m.GetKind()),
	}
}

func outcomeFromProto(m *mulliganv1.OutcomeRequest) Outcome {
	o := Outcome{Call: m.GetCall(), OK: m.GetOk(), Model: m.GetModel()}
	if m.GetFailure() != nil {
		e := evidenceFromProto(m.GetFailure())
		o.Failure = &e
	}
	return o
}

func replyToProto(a Reply) *mulliganv1.DecideResponse {
	return &mulliganv1.DecideResponse{
		Run: a.Run, Failure: protoconv.FailureToProto(a.Failure), Decision: protoconv.DecisionToProto(a.Decision),
		RecoverySuggestion: protoconv.SuggestionToProto(a.RecoverySuggestion), Votes: protoconv.VotesToProto(a.Votes),
	}
}
