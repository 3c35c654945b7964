package protoconv

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// RunErrorToProto converts the run_error occasion.
func RunErrorToProto(e hooks.RunError) *mulliganv1.RunErrorRequest {
	m := &mulliganv1.RunErrorRequest{
		Run: valid(e.Run), Session: valid(e.Session), Failure: FailureToProto(e.Failure), Model: valid(e.Model),
		Attempt: int32(e.Attempt), Retries: int32(e.Retries), MaxRetries: int32(e.MaxRetries),
		AutoRecover: e.AutoRecover, ElapsedMs: int64(e.Elapsed),
		Remaining:         toProto(e.Remaining, &mulliganv1.Budget{}),
		RemainingAttempts: int32(e.RemainingAttempts), RemainingMs: int64(e.RemainingTime),
		Tried:        eachToProto[recovery.Tried, mulliganv1.Tried](e.Tried),
		Alternatives: eachToProto[recovery.Alternative, mulliganv1.Alternative](e.Alternatives),
		PartialShown: e.PartialShown, IdleBreaker: e.IdleBreaker, IdleExpiries: int32(e.IdleExpiries),
		DryRun: e.DryRun, Pressed: e.Pressed,
		SessionKey: valid(e.SessionKey), AgentId: valid(e.AgentID), Aborted: e.Aborted, TimedOut: e.TimedOut, PromptError: valid(e.PromptError),
	}
	m.Labels, m.Spent, m.InputTokens, m.Images, m.Schema = labels(e.Labels), toProto(e.Spent, &mulliganv1.Budget{}), e.InputTokens, e.Images, e.Schema
	m.About = toProto(e.About, &mulliganv1.Alternative{})
	m.Cooling = eachToProto[recovery.Alternative, mulliganv1.Alternative](e.Cooling)
	m.Tools, m.FailedKinds = validEach(e.Tools), validEach(e.FailedKinds)
	m.RecentCalls = eachToProto[recovery.RecentCall, mulliganv1.RecentCall](e.RecentCalls)
	if !e.Time.IsZero() {
		m.Time = timestamppb.New(e.Time)
	}
	number, _ := enumNumber(replaySafety(), e.ReplaySafety)
	m.ReplaySafety = mulliganv1.ReplaySafety(number)
	m.UnsafeTools = validEach(e.UnsafeTools)
	if len(e.Transcript) > 0 {
		m.Transcript, _ = json.Marshal(e.Transcript) // what cannot be JSON is not told
	}
	return m
}

// RunErrorFromProto is the inverse of RunErrorToProto.
func RunErrorFromProto(m *mulliganv1.RunErrorRequest) hooks.RunError {
	var transcript []llm.Message
	if json.Unmarshal(m.GetTranscript(), &transcript) != nil {
		transcript = nil
	}
	var at time.Time
	if m.GetTime().IsValid() {
		at = m.GetTime().AsTime()
	}
	return hooks.RunError{
		Time: at, DryRun: m.GetDryRun(), Pressed: m.GetPressed(),
		SessionKey: m.GetSessionKey(), AgentID: m.GetAgentId(), Aborted: m.GetAborted(), TimedOut: m.GetTimedOut(), PromptError: m.GetPromptError(),
		Transcript: transcript,
		Run:        m.GetRun(), Session: m.GetSession(), Failure: FailureFromProto(m.GetFailure()), Model: m.GetModel(),
		Attempt: int(m.GetAttempt()), Retries: int(m.GetRetries()), MaxRetries: int(m.GetMaxRetries()),
		AutoRecover: m.GetAutoRecover(), Elapsed: failure.Millis(m.GetElapsedMs()),
		Remaining:         fromProto[recovery.Budget](m.GetRemaining()),
		RemainingAttempts: int(m.GetRemainingAttempts()), RemainingTime: failure.Millis(m.GetRemainingMs()),
		Tried:        eachFromProto[recovery.Tried](m.GetTried()),
		Alternatives: eachFromProto[recovery.Alternative](m.GetAlternatives()),
		ReplaySafety: enumName(replaySafety(), protoreflect.EnumNumber(m.GetReplaySafety()), ""),
		UnsafeTools:  m.GetUnsafeTools(), PartialShown: m.GetPartialShown(),
		IdleBreaker: m.GetIdleBreaker(), IdleExpiries: int(m.GetIdleExpiries()),
		Labels: m.GetLabels(), Spent: fromProto[recovery.Budget](m.GetSpent()), InputTokens: m.GetInputTokens(),
		Tools: m.GetTools(), Images: m.GetImages(), Schema: m.GetSchema(),
		About: fromProto[recovery.Alternative](m.GetAbout()), Cooling: eachFromProto[recovery.Alternative](m.GetCooling()),
		FailedKinds: kinds(m.GetFailedKinds()), RecentCalls: eachFromProto[recovery.RecentCall](m.GetRecentCalls()),
	}
}

func replaySafety() protoreflect.EnumDescriptor { return mulliganv1.ReplaySafety(0).Descriptor() }
