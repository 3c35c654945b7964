package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// What the conformance plugin is told in the label "do" of an occasion beside run_error.
const labelDo = "do"

// occasionTime is when the occasions of the check happen.
var occasionTime = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// aCall is a call of which every field says something.
func aCall(do string) *mulliganv1.BeforeCallRequest {
	at := timestamppb.New(occasionTime)
	return &mulliganv1.BeforeCallRequest{
		Run: "01JRUN", Session: "s-7", SessionKey: "chat", AgentId: "helper", Labels: map[string]string{labelDo: do},
		Model:        &mulliganv1.Alternative{Model: "a/one", ContextTokens: 1000, Price: &mulliganv1.Price{Input: 1, Output: 2}, Health: "failing"},
		Alternatives: []*mulliganv1.Alternative{{Model: "b/two", Local: true, Lacks: []string{"images", "schema"}, CoolsUntil: at, CoolingKind: "quota"}},
		Round:        3, Attempt: 1, Tried: []*mulliganv1.Tried{{Model: "a/one", Code: "MODEL_PROVIDER_TIMEOUT", At: at, Ms: 1500}},
		Summary: true, InputTokens: 77, Tools: []string{"search", "write"}, Images: true, Holds: 2, AutoRecover: true,
		Spent: &mulliganv1.Budget{Tokens: 5, Microdollars: 6}, Remaining: &mulliganv1.Budget{Tokens: 7, Microdollars: -1},
		ElapsedMs: 2500, RemainingMs: 9000, Time: at, Schema: true, FailedKinds: []string{"timeout", "brand_new"},
		RecentCalls: []*mulliganv1.RecentCall{{Model: "a/one", At: at}, {Model: "a/two", Kind: "brand_new", At: at}},
	}
}

// saidOfCall are the fields of aCall as the plugin renders them.
var saidOfCall = map[string]string{
	"run": "01JRUN", "session": "s-7", "session_key": "chat", "agent_id": "helper", "model": "a/one", "alternatives": "b/two", "models": "b/two 0 local lacks=images+schema cools_until=2026-05-04T03:02:01Z cooling_kind=quota",
	"round": "3", "attempt": "1", "tried": "0 a/one MODEL_PROVIDER_TIMEOUT 2026-05-04T03:02:01Z 1.5", "summary": "true", "input_tokens": "77",
	"tools": "search,write", "images": "true", "holds": "2", "auto_recover": "true", "spent_tokens": "5", "remaining_tokens": "7",
	"remaining_microdollars": "-1", "elapsed": "2.5", "remaining_time": "9", "time": "2026-05-04T03:02:01Z", "dry_run": "false",
	"spent_microdollars": "6", "labels": "do=say labels", "schema": "true", "about": "a/one 1000 1/2 health=failing", "failed_kinds": "timeout,brand_new",
	"recent_calls": "a/one  2026-05-04T03:02:01Z,a/two brand_new 2026-05-04T03:02:01Z",
}

// aToolError is a tool that failed, of which every field says something.
func aToolError(do string) *mulliganv1.ToolErrorRequest {
	return &mulliganv1.ToolErrorRequest{
		Run: "01JRUN", Session: "s-7", SessionKey: "chat", AgentId: "helper", Labels: map[string]string{labelDo: do},
		Tool: "search", CallId: "c1", Safety: mulliganv1.ToolSafety_TOOL_SAFETY_IDEMPOTENT, Tries: 1, RemainingTries: 1, Failures: 3, TimedOut: true,
		TookMs: 1500, Error: "Köln is busy", Model: "a/one", Round: 2, AutoRecover: true,
		Spent: &mulliganv1.Budget{Tokens: 5, Microdollars: 6}, Remaining: &mulliganv1.Budget{Tokens: 7, Microdollars: -1},
		ElapsedMs: 2500, RemainingMs: 9000, Time: timestamppb.New(occasionTime), DryRun: true,
	}
}

var saidOfTool = map[string]string{
	"run": "01JRUN", "session": "s-7", "session_key": "chat", "agent_id": "helper", "tool": "search", "call_id": "c1", "safety": "idempotent",
	"tries": "1", "remaining_tries": "1", "failures": "3", "timed_out": "true", "took": "1.5", "error": "Köln is busy", "model": "a/one", "round": "2",
	"auto_recover": "true", "spent_tokens": "5", "remaining_tokens": "7", "remaining_microdollars": "-1", "elapsed": "2.5", "remaining_time": "9",
	"time": "2026-05-04T03:02:01Z", "dry_run": "true",
}

// anEnd is the end of a run of which every field says something.
func anEnd(do string) *mulliganv1.RunEndedRequest {
	return &mulliganv1.RunEndedRequest{
		Run: "01JRUN", Session: "s-7", SessionKey: "chat", AgentId: "helper", Labels: map[string]string{labelDo: do},
		Status: "completed", StopReason: "completed", ChosenModel: "a/one", Model: "b/two", Recovered: true, Attempts: 3, FailedAttempts: 2,
		Kinds: []string{"timeout", "overloaded"}, Switches: 1, RecoveryMs: 4200, Wasted: &mulliganv1.Budget{Tokens: 8, Microdollars: 9},
		Spent: &mulliganv1.Budget{Tokens: 10, Microdollars: 11}, ElapsedMs: 60_000, Time: timestamppb.New(occasionTime),
	}
}

var saidAtEnd = map[string]string{
	"run": "01JRUN", "status": "completed", "stop_reason": "completed", "chosen_model": "a/one", "model": "b/two", "recovered": "true", "attempts": "3",
	"failed_attempts": "2", "kinds": "timeout,overloaded", "switches": "1", "recovery_time": "4.2", "wasted_tokens": "8", "wasted_microdollars": "9",
	"spent_tokens": "10", "elapsed": "60", "time": "2026-05-04T03:02:01Z", "agent_id": "helper",
}

// takesOccasions is about the occasions beside run_error.
func takesOccasions(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		if err := p.Configure(ctx, nil); err != nil {
			return err
		}
		described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
		if err != nil {
			return err
		}
		for _, occasion := range []string{recovery.HookBeforeCall, recovery.HookToolError, recovery.HookRunEnded} {
			if !slices.Contains(described.GetOccasions(), occasion) {
				return fmt.Errorf("its Describe offers %v, and not %s", described.GetOccasions(), occasion)
			}
		}
		if err := p.judges(ctx); err != nil {
			return fmt.Errorf("before_call: %w", err)
		}
		if err := p.advisesAboutTools(ctx); err != nil {
			return fmt.Errorf("tool_error: %w", err)
		}
		return p.hears(ctx)
	})
}

// judges has the plugin answer in every way.
func (p *Plugin) judges(ctx context.Context) error {
	hold := timestamppb.New(occasionTime.Add(time.Hour))
	for do, want := range map[string]*mulliganv1.BeforeCallResponse{
		"":                {},
		"allow":           {Verdict: mulliganv1.Verdict_VERDICT_ALLOW},
		"route b/two":     {Verdict: mulliganv1.Verdict_VERDICT_ROUTE, Model: "b/two", Reason: "told so"},
		"hold 3600":       {Verdict: mulliganv1.Verdict_VERDICT_HOLD, Until: hold, Reason: "told so"},
		"refuse Nürnberg": {Verdict: mulliganv1.Verdict_VERDICT_REFUSE, Reason: "Nürnberg"},
	} {
		got, err := p.service.BeforeCall(ctx, aCall(do))
		if err != nil || got.GetVerdict() != want.GetVerdict() || got.GetModel() != want.GetModel() || got.GetReason() != want.GetReason() ||
			!got.GetUntil().AsTime().Equal(want.GetUntil().AsTime()) {
			return fmt.Errorf("%q: %v, %w, want %v", do, got, err, want)
		}
	}
	for field, want := range saidOfCall {
		got, err := p.service.BeforeCall(ctx, aCall("say "+field))
		if err != nil || got.GetReason() != want {
			return fmt.Errorf("%s is %q, %w, want %q", field, got.GetReason(), err, want)
		}
	}
	_, err := p.service.BeforeCall(ctx, aCall("raise no such region: Nürnberg"))
	return breaks(err)
}

// advisesAboutTools has the plugin answer in every way about a tool.
func (p *Plugin) advisesAboutTools(ctx context.Context) error {
	for do, want := range map[string]*mulliganv1.ToolErrorResponse{
		"":            {},
		"again 0.5":   {Action: mulliganv1.ToolAction_TOOL_ACTION_RETRY, DelayMs: 500, Reason: "told so"},
		"tell Köln":   {Action: mulliganv1.ToolAction_TOOL_ACTION_TELL, Words: "Köln", Reason: "told so"},
		"ask because": {Action: mulliganv1.ToolAction_TOOL_ACTION_ASK, Reason: "because"},
	} {
		got, err := p.service.ToolError(ctx, aToolError(do))
		if err != nil || got.GetAction() != want.GetAction() || got.GetDelayMs() != want.GetDelayMs() || got.GetWords() != want.GetWords() ||
			got.GetReason() != want.GetReason() {
			return fmt.Errorf("%q: %v, %w, want %v", do, got, err, want)
		}
	}
	for field, want := range saidOfTool {
		got, err := p.service.ToolError(ctx, aToolError("say "+field))
		if err != nil || got.GetReason() != want {
			return fmt.Errorf("%s is %q, %w, want %q", field, got.GetReason(), err, want)
		}
	}
	_, err := p.service.ToolError(ctx, aToolError("raise no such region: Nürnberg"))
	return breaks(err)
}

// hears has the plugin say in an error what it was told, since it has no other way to.
func (p *Plugin) hears(ctx context.Context) error {
	if _, err := p.service.RunEnded(ctx, anEnd("")); err != nil {
		return fmt.Errorf("run_ended: %w", err)
	}
	for field, want := range saidAtEnd {
		_, err := p.service.RunEnded(ctx, anEnd("say "+field))
		if s := status.Convert(err); s.Code() != codes.Unknown || !strings.Contains(s.Message(), "<"+want+">") {
			return fmt.Errorf("run_ended: %s: %q, want <%s>", field, s.Message(), want)
		}
	}
	_, err := p.service.RunEnded(ctx, anEnd("raise no such region: Nürnberg"))
	return breaks(err)
}

func breaks(err error) error {
	if s := status.Convert(err); s.Code() != codes.Unknown && s.Code() != codes.Internal || !strings.Contains(s.Message(), "no such region: Nürnberg") {
		return fmt.Errorf("an error of the function: %v %q, want Unknown and its text", s.Code(), s.Message())
	}
	return nil
}
