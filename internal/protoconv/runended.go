package protoconv

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// RunEndedToProto converts the run_ended occasion.
func RunEndedToProto(e hooks.RunEnded) *mulliganv1.RunEndedRequest {
	m := &mulliganv1.RunEndedRequest{
		Run: valid(e.Run), Session: valid(e.Session), SessionKey: valid(e.SessionKey), AgentId: valid(e.AgentID), Labels: labels(e.Labels),
		Status: string(e.Status), StopReason: valid(e.StopReason), ChosenModel: valid(e.ChosenModel), Model: valid(e.Model),
		Recovered: e.Recovered, Attempts: int32(e.Attempts), FailedAttempts: int32(e.FailedAttempts),
		Switches: int32(e.Trouble.Switches), RecoveryMs: int64(e.Trouble.Took), Wasted: toProto(e.Trouble.Wasted, &mulliganv1.Budget{}),
		Spent: toProto(e.Spent, &mulliganv1.Budget{}), ElapsedMs: int64(e.Elapsed), Time: stamp(e.Time), DryRun: e.DryRun,
	}
	m.Kinds = validEach(e.Trouble.Kinds)
	if e.Failure != nil {
		m.Failure = FailureToProto(*e.Failure)
	}
	return m
}

// RunEndedFromProto is the inverse of RunEndedToProto.
func RunEndedFromProto(m *mulliganv1.RunEndedRequest) hooks.RunEnded {
	e := hooks.RunEnded{
		Run: m.GetRun(), Session: m.GetSession(), SessionKey: m.GetSessionKey(), AgentID: m.GetAgentId(), Labels: m.GetLabels(),
		Status: recovery.Status(m.GetStatus()), StopReason: m.GetStopReason(), ChosenModel: m.GetChosenModel(), Model: m.GetModel(),
		Recovered: m.GetRecovered(), Attempts: int(m.GetAttempts()), FailedAttempts: int(m.GetFailedAttempts()),
		Trouble: recovery.Trouble{
			Switches: int(m.GetSwitches()), Took: failure.Millis(m.GetRecoveryMs()), Wasted: fromProto[recovery.Budget](m.GetWasted()),
		},
		Spent: fromProto[recovery.Budget](m.GetSpent()), Elapsed: failure.Millis(m.GetElapsedMs()), Time: at(m.GetTime()), DryRun: m.GetDryRun(),
	}
	e.Trouble.Kinds = kinds(m.GetKinds())
	if m.GetFailure() != nil {
		f := FailureFromProto(m.GetFailure())
		e.Failure = &f
	}
	return e
}
