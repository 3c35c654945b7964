package protoconv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// unsafe is what the wire calls recovery.SafetyUnsafe, which has no name of its own.
const unsafe = "unsafe"

// ToolErrorToProto converts the tool_error occasion.
func ToolErrorToProto(e hooks.ToolError) *mulliganv1.ToolErrorRequest {
	word := string(e.Safety)
	if word == "" {
		word = unsafe
	}
	safety, _ := enumNumber(toolSafety(), word)
	m := &mulliganv1.ToolErrorRequest{
		Run: valid(e.Run), Session: valid(e.Session), SessionKey: valid(e.SessionKey), AgentId: valid(e.AgentID), Labels: labels(e.Labels),
		Tool: valid(e.Tool), CallId: valid(e.CallID), Safety: mulliganv1.ToolSafety(safety),
		Tries: int32(e.Tries), RemainingTries: int32(e.RemainingTries), Failures: int32(e.Failures), TimedOut: e.TimedOut, TookMs: int64(e.Took),
		Error: valid(e.Error), Model: valid(e.Model), Round: int32(e.Round), AutoRecover: e.AutoRecover,
		Spent: toProto(e.Spent, &mulliganv1.Budget{}), Remaining: toProto(e.Remaining, &mulliganv1.Budget{}),
		ElapsedMs: int64(e.Elapsed), RemainingMs: int64(e.RemainingTime), Time: stamp(e.Time), DryRun: e.DryRun,
	}
	if len(e.Transcript) > 0 {
		m.Transcript, _ = json.Marshal(e.Transcript) // what cannot be JSON is not told
	}
	return m
}

// ToolErrorFromProto is the inverse of ToolErrorToProto.
func ToolErrorFromProto(m *mulliganv1.ToolErrorRequest) hooks.ToolError {
	var transcript []llm.Message
	if json.Unmarshal(m.GetTranscript(), &transcript) != nil {
		transcript = nil
	}
	safety := enumName(toolSafety(), protoreflect.EnumNumber(m.GetSafety()), "")
	return hooks.ToolError{
		Run: m.GetRun(), Session: m.GetSession(), SessionKey: m.GetSessionKey(), AgentID: m.GetAgentId(), Labels: m.GetLabels(),
		Tool: m.GetTool(), CallID: m.GetCallId(), Safety: recovery.Safety(strings.TrimPrefix(safety, unsafe)),
		Tries: int(m.GetTries()), RemainingTries: int(m.GetRemainingTries()), Failures: int(m.GetFailures()),
		TimedOut: m.GetTimedOut(), Took: failure.Millis(m.GetTookMs()),
		Error: m.GetError(), Model: m.GetModel(), Round: int(m.GetRound()), AutoRecover: m.GetAutoRecover(),
		Spent: fromProto[recovery.Budget](m.GetSpent()), Remaining: fromProto[recovery.Budget](m.GetRemaining()),
		Elapsed: failure.Millis(m.GetElapsedMs()), RemainingTime: failure.Millis(m.GetRemainingMs()), Time: at(m.GetTime()), DryRun: m.GetDryRun(),
		Transcript: transcript,
	}
}

// ToolAdviceToProto converts a plugin's advice about a failed tool.
func ToolAdviceToProto(v recovery.Vote) *mulliganv1.ToolErrorResponse {
	number, rest := enumNumber(toolAction(), string(v.Action))
	if rest != "" {
		number = -1 // the other end refuses it, instead of taking it for no opinion
	}
	return &mulliganv1.ToolErrorResponse{
		Action: mulliganv1.ToolAction(number), DelayMs: int64(v.Delay), Words: valid(v.Words), Reason: valid(v.Reason),
	}
}

// ToolAdvice converts a plugin's answer to a vote, or says what is wrong with it. Package recovery
// decides whether the tool may run again.
func ToolAdvice(m *mulliganv1.ToolErrorResponse) (recovery.Vote, error) {
	v := recovery.Vote{
		Action: recovery.Action(enumName(toolAction(), protoreflect.EnumNumber(m.GetAction()), "")),
		Delay:  failure.Millis(m.GetDelayMs()), Words: m.GetWords(), Reason: m.GetReason(),
	}
	err := errors.Join(checkToolAction(v), checkText("words", v.Words, recovery.MaxToolWords), checkText("reason", v.Reason, maxReason))
	if err != nil {
		return recovery.Vote{}, fmt.Errorf("invalid answer: %w", err)
	}
	if v.Action != recovery.ActionRetry {
		v.Delay = 0
	}
	if v.Action != recovery.ActionTell {
		v.Words = ""
	}
	return v, nil
}

func checkToolAction(v recovery.Vote) error {
	switch v.Action {
	case recovery.ActionNone, recovery.ActionAsk:
		return nil
	case recovery.ActionTell:
		if strings.TrimSpace(v.Words) == "" {
			return errors.New("tell has no words")
		}
		return nil
	case recovery.ActionRetry:
		if v.Delay < 0 || v.Delay > recovery.MaxInProcessWait {
			return fmt.Errorf("delay_ms %d is not from 0 to %d", v.Delay, recovery.MaxInProcessWait)
		}
		return nil
	}
	return fmt.Errorf("unknown action %.50q", string(v.Action))
}

func toolSafety() protoreflect.EnumDescriptor { return mulliganv1.ToolSafety(0).Descriptor() }

func toolAction() protoreflect.EnumDescriptor { return mulliganv1.ToolAction(0).Descriptor() }
