package protoconv

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// BeforeCallToProto converts the before_call occasion.
func BeforeCallToProto(e hooks.BeforeCall) *mulliganv1.BeforeCallRequest {
	m := &mulliganv1.BeforeCallRequest{
		Run: valid(e.Run), Session: valid(e.Session), SessionKey: valid(e.SessionKey), AgentId: valid(e.AgentID), Labels: labels(e.Labels),
		Model:        toProto(e.Model, &mulliganv1.Alternative{}),
		Alternatives: eachToProto[recovery.Alternative, mulliganv1.Alternative](e.Alternatives),
		Round:        int32(e.Round), Attempt: int32(e.Attempt), Tried: eachToProto[recovery.Tried, mulliganv1.Tried](e.Tried),
		Summary: e.Summary, InputTokens: e.InputTokens, Images: e.Images, Holds: int32(e.Holds), AutoRecover: e.AutoRecover,
		Spent: toProto(e.Spent, &mulliganv1.Budget{}), Remaining: toProto(e.Remaining, &mulliganv1.Budget{}),
		ElapsedMs: int64(e.Elapsed), RemainingMs: int64(e.RemainingTime), Time: stamp(e.Time), DryRun: e.DryRun,
	}
	m.Tools, m.Schema, m.FailedKinds = validEach(e.Tools), e.Schema, validEach(e.FailedKinds)
	m.RecentCalls = eachToProto[recovery.RecentCall, mulliganv1.RecentCall](e.RecentCalls)
	if len(e.Transcript) > 0 {
		m.Transcript, _ = json.Marshal(e.Transcript) // what cannot be JSON is not told
	}
	return m
}

// BeforeCallFromProto is the inverse of BeforeCallToProto.
func BeforeCallFromProto(m *mulliganv1.BeforeCallRequest) hooks.BeforeCall {
	var transcript []llm.Message
	if json.Unmarshal(m.GetTranscript(), &transcript) != nil {
		transcript = nil
	}
	return hooks.BeforeCall{
		Run: m.GetRun(), Session: m.GetSession(), SessionKey: m.GetSessionKey(), AgentID: m.GetAgentId(), Labels: m.GetLabels(),
		Model:        fromProto[recovery.Alternative](m.GetModel()),
		Alternatives: eachFromProto[recovery.Alternative](m.GetAlternatives()),
		Round:        int(m.GetRound()), Attempt: int(m.GetAttempt()), Tried: eachFromProto[recovery.Tried](m.GetTried()),
		Summary: m.GetSummary(), InputTokens: m.GetInputTokens(), Tools: m.GetTools(), Images: m.GetImages(), Holds: int(m.GetHolds()),
		AutoRecover: m.GetAutoRecover(), Spent: fromProto[recovery.Budget](m.GetSpent()), Remaining: fromProto[recovery.Budget](m.GetRemaining()),
		Elapsed: failure.Millis(m.GetElapsedMs()), RemainingTime: failure.Millis(m.GetRemainingMs()), Time: at(m.GetTime()), DryRun: m.GetDryRun(),
		Schema: m.GetSchema(), FailedKinds: kinds(m.GetFailedKinds()), RecentCalls: eachFromProto[recovery.RecentCall](m.GetRecentCalls()),
		Transcript: transcript,
	}
}

// VerdictToProto converts a plugin's verdict about a call that is about to begin.
func VerdictToProto(v recovery.Vote) *mulliganv1.BeforeCallResponse {
	number, rest := enumNumber(verdict(), string(v.Action))
	if rest != "" {
		number = -1 // the other end refuses it, instead of taking it for no opinion
	}
	return &mulliganv1.BeforeCallResponse{Verdict: mulliganv1.Verdict(number), Model: valid(v.NewModel), Until: stamp(v.Until), Reason: valid(v.Reason)}
}

// Verdict converts a plugin's answer to e to a vote, or says what is wrong with it.
func Verdict(e hooks.BeforeCall, m *mulliganv1.BeforeCallResponse) (recovery.Vote, error) {
	v := recovery.Vote{
		Action:   recovery.Action(enumName(verdict(), protoreflect.EnumNumber(m.GetVerdict()), "")),
		NewModel: m.GetModel(), Until: at(m.GetUntil()), Reason: m.GetReason(),
	}
	err := errors.Join(checkVerdict(e, v), checkText("model", v.NewModel, maxWord), checkText("reason", v.Reason, maxReason))
	if err != nil {
		return recovery.Vote{}, fmt.Errorf("invalid answer: %w", err)
	}
	if v.Action != recovery.ActionRoute {
		v.NewModel = ""
	}
	if v.Action != recovery.ActionHold {
		v.Until = time.Time{}
	}
	return v, nil
}

func checkVerdict(e hooks.BeforeCall, v recovery.Vote) error {
	switch v.Action {
	case recovery.ActionNone, recovery.ActionAllow, recovery.ActionRefuse:
		return nil
	case recovery.ActionHold:
		if v.Until.IsZero() || v.Until.Sub(e.Time) > failure.MaxDelay.Duration() {
			return errors.New("hold names no time within 7 days")
		}
		return nil
	case recovery.ActionRoute:
		if v.NewModel == e.Model.Model {
			return nil
		}
		for _, a := range e.Alternatives {
			if a.Model == v.NewModel {
				return nil
			}
		}
		return fmt.Errorf("route names %.100q, which is not one of the alternatives", v.NewModel)
	}
	return fmt.Errorf("unknown verdict %.50q", string(v.Action))
}

func verdict() protoreflect.EnumDescriptor { return mulliganv1.Verdict(0).Descriptor() }

func labels(given recovery.Labels) map[string]string {
	if len(given) == 0 {
		return nil
	}
	told := make(map[string]string, len(given))
	for key, value := range given {
		told[valid(key)] = valid(value)
	}
	return told
}

func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func at(m *timestamppb.Timestamp) time.Time {
	if !m.IsValid() {
		return time.Time{}
	}
	return m.AsTime()
}
