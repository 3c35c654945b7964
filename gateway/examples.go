package gateway

import (
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway/internal/aisdk"
	"github.com/mulligan-run/mulligan/internal/answers"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// example is a request's body, if any, and its answer.
type example struct{ in, out any }

// addExamples adds an operation's examples from the table below.
func addExamples(op *huma.Operation) {
	e, ok := examples[op.OperationID]
	if !ok {
		return
	}
	if e.in != nil {
		op.RequestBody.Content["application/json"].Example = e.in
	}
	for code, response := range op.Responses {
		for _, media := range response.Content {
			if code[0] == '2' {
				media.Example = e.out
			}
		}
	}
}

// The examples tell one story: a run whose model is overloaded, and what a person can do
// about it.
var (
	exampleTime    = time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC)
	exampleFailure = failure.Failure{
		Kind: failure.KindOverloaded, Code: failure.KindOverloaded.Code(), Origin: failure.OriginModel, Phase: failure.PhaseBeforeFirstEvent,
		Retryable: true, Provider: "anthropic", Model: exampleModel, HTTPStatus: 529, ProviderCode: "overloaded_error", Elapsed: 412,
		Title: "Anthropic is overloaded", Message: "Its servers are full (529); this is not your usage limit.", Detail: "Overloaded",
	}
	exampleSuggestion = recovery.Suggestion{
		SuggestedAction: recovery.ActionSwitchModel, NewModel: exampleOther, ID: exampleRun + "-s4", ExpiresAt: exampleTime.Add(24 * time.Hour),
		Title: exampleFailure.Title, Message: exampleFailure.Message, Error: exampleFailure,
		DecidedBy: &recovery.Voter{Plugin: "auto-recover", Version: "1.0.0", Reason: "another provider is not overloaded", Millis: 4},
		Actions: []recovery.Button{
			{ID: "a1", Kind: recovery.ButtonSwitchModel, Label: "Switch to GPT-5.2", Effect: recovery.EffectRunner, Model: exampleOther, Primary: true},
			{ID: "a2", Kind: recovery.ButtonRetry, Label: "Retry", Effect: recovery.EffectRunner},
			{ID: "a3", Kind: recovery.ButtonStop, Label: "Stop", Effect: recovery.EffectRunner},
		},
		Tried: []recovery.Tried{{Model: exampleModel, Code: exampleFailure.Code, At: exampleTime, Millis: 412}},
	}
	exampleGoesOn = Run{
		ID: exampleRun, Session: "golf", Status: recovery.StatusRunning, Chosen: exampleModel, Model: exampleModel, Models: []string{exampleModel, exampleOther},
		Messages: []llm.Message{llm.User(examplePrompt)}, Attempt: exampleAttempt(1, exampleModel, exampleOther, exampleTime),
		StartedAt: exampleTime, UpdatedAt: exampleTime, Seq: 3, ServerNow: exampleTime,
	}
	exampleListed = Listed{
		ID: exampleRun, Session: "golf", Title: examplePrompt, Model: exampleModel, Status: recovery.StatusFailed, SuggestionOpen: true,
		Kind: failure.KindOverloaded, Problem: "Anthropic is overloaded", DecidedBy: "auto-recover", Attempts: 1, Failed: 1, Tokens: 12, Wasted: 12,
		StartedAt: exampleTime, UpdatedAt: exampleTime.Add(time.Second), Seq: 7,
	}
	exampleDefaults = Defaults{Model: exampleOther, Timeouts: map[failure.Timer]int64{failure.TimerIdle: 120_000}}
	exampleSession  = Session{ID: "golf", Defaults: exampleDefaults, Runs: []Listed{exampleListed}, Updated: exampleListed.UpdatedAt}
)

const (
	exampleRun    = "r01jqz3v7e8k9m2n4p5r6s7t8v9"
	exampleModel  = "anthropic/claude-sonnet-4-5"
	exampleOther  = "openai/gpt-5.2"
	examplePrompt = "What is a mulligan?"
)

// examples are keyed by the operation's id.
var examples = map[string]example{
	"start-run":  {in: Start{Prompt: examplePrompt, Model: exampleModel, Fallbacks: []string{exampleOther}, Session: "golf"}, out: exampleGoesOn},
	"list-runs":  {out: many("runs", exampleListed)},
	"get-run":    {out: exampleFailed()},
	"get-rescue": {out: exampleRescue()}, "get-what-if": {out: exampleWhatIf()},
	"return-tool-results": {
		in: map[string]any{"results": []CallResult{{CallID: "toolu_01", Text: "22 degrees and sunny"}}}, out: exampleGoesOn,
	},
	"cancel-run":       {out: exampleCancelled()},
	"recover-run":      {in: Answer{Suggestion: exampleSuggestion.ID, Action: "a1"}, out: exampleSwitched()},
	"list-suggestions": {out: many("suggestions", Asked{Run: exampleRun, Session: "golf", Title: examplePrompt, Since: exampleTime, Suggestion: exampleSuggestion})},
	"answer-suggestions": {
		in:  answersBody{Kind: "overloaded", Provider: "anthropic", Action: recovery.ButtonSwitchModel, Model: exampleOther, DryRun: true},
		out: many("results", AnsweredOne{Run: exampleRun, Title: examplePrompt, State: answers.Would, Action: recovery.ButtonSwitchModel, Model: exampleOther, Label: "Switch to gpt-5.2"}),
	},
	"list-causes": {out: many("causes", OpenCause{
		Kind: failure.KindOverloaded, Provider: "anthropic", Title: "Anthropic is overloaded", Runs: 12, Since: exampleTime, Expires: exampleTime.Add(24 * time.Hour),
		Offers: []OfferedOnce{{Action: recovery.ButtonSwitchModel, Model: exampleOther, Label: "Switch to gpt-5.2", Runs: 12}},
	})},
	"list-sessions":     {out: many("sessions", SessionListed{ID: "golf", Title: "Golf", Runs: 1, Last: exampleListed})},
	"get-session":       {out: exampleSession},
	"set-session-title": {in: map[string]string{"title": "Golf"}},
	"set-session":       {in: exampleDefaults, out: exampleSession},
	"list-models":       {out: many("models", Model{Name: exampleModel, Provider: "Anthropic", Ready: true, Default: true, ContextTokens: 200_000})},
	"list-providers":    {out: exampleProviders},
	"list-plugins":      {out: many("plugins", examplePlugin)},
	"restart-plugin":    {out: examplePlugin},
	"disable-plugin":    {out: exampleDisabled()},
	"enable-plugin":     {out: examplePlugin},
	"list-members": {out: many("members", Member{
		Name: "box/4711/01JNA7Z4Y8", Version: "1.0.0", Role: "all", Address: "10.0.0.7:8484", Joined: exampleTime, SeenMS: 400, LagMS: 3, Drives: 12,
	})},
	"list-kinds": {out: many("kinds", KindListed{failure.KindBilling, false})},
	"learn-kind": {in: correction{Kind: failure.KindBilling, Was: failure.KindOverloaded}, out: Lesson{
		Before: failure.KindOverloaded, After: failure.KindBilling, File: "/home/me/.local/state/mulligan/failures.yaml",
		Row: `- {kind: billing, provider: "anthropic", status: 529, code: "overloaded_error", text: "Overloaded", was: overloaded, learned: "2026-03-02"}`,
	}},
	"list-lab": {out: LabListed{
		Model: "fable/fable-1", Fallback: "atlas/atlas-1", Timeouts: map[string]int64{"idle": 3000},
		Faults: []LabFault{{"529", "529 Overloaded", "The provider has no room for the call, twice in a row.", examplePrompt}},
	}},
	"set-lab": {in: labChoice{"529"}},
	"list-keys": {out: KeysListed{Keeps: true, Providers: []KeyProvider{
		{Name: "anthropic", Title: "Anthropic", KeyEnv: "ANTHROPIC_API_KEY", From: "kept", Kept: true, Model: exampleModel, Page: "https://console.anthropic.com/settings/keys"},
		{Name: "openai", Title: "OpenAI", KeyEnv: "OPENAI_API_KEY", Model: exampleOther, Page: "https://platform.openai.com/api-keys"},
	}, Local: []LocalServer{{Name: "ollama", Title: "Ollama", Models: []string{"ollama/qwen3"}}}}},
	"keep-key": {in: keyKept{"sk-the-key-as-the-provider-shows-it-once"}},
	"try-key":  {out: KeyTried{Model: exampleModel, Answered: true, Millis: 812}},
	"decide":   {in: exampleQuestion, out: exampleAdvice()},
	"tell-outcome": {
		in:  advice.Outcome{Call: exampleQuestion.Call, OK: true, Model: exampleOther},
		out: advice.Closed{Run: exampleAdvised, Status: recovery.StatusCompleted},
	},
	"chat-aisdk": {in: aisdk.Request{ID: "golf", Trigger: aisdk.TriggerSubmit, Messages: []aisdk.Message{
		{ID: "m1", Role: "user", Parts: []aisdk.Part{{Type: "text", Text: examplePrompt}}},
	}}},
	"run-agui": {in: map[string]any{
		"threadId": "golf", "runId": "exchange-1", "messages": []any{map[string]any{"id": "m1", "role": "user", "content": examplePrompt}},
		"tools": []any{}, "context": []any{}, "state": map[string]any{}, "forwardedProps": map[string]any{"recovery": "interrupt"},
	}},
	"messages-aisdk": {out: many("messages", aisdk.UIMessage{ID: exampleRun + "-user", Role: "user", Parts: []aisdk.UIPart{{Type: "text", Text: examplePrompt, State: "done"}}})},
	"healthz":        {out: map[string]string{"status": "ok"}},
	"readyz":         {out: map[string]string{"status": "ok"}},
	"login":          {in: loginBody{Code: "q3nFJ0c2b1kYw7e5tXhM4A"}},
	"metrics":        {out: "mulligan_runs_started_total 12\nmulligan_runs_recovered_total 3\n"},
	"follow-run": {out: []any{
		map[string]any{"event": "event", "id": "2", "data": recovery.Event{
			Run: exampleRun, Seq: 2, Time: exampleTime, Body: recovery.Began{Attempt: 1, Round: 1, Model: exampleModel},
		}},
		map[string]any{"event": "delta", "data": Delta{Run: exampleRun, Attempt: 1, Text: "A mulligan is "}},
		map[string]any{"event": "end", "data": map[string]any{}},
	}},
}

// exampleQuestion comes from a program that makes its calls itself.
var exampleQuestion = advice.Question{
	Call: "call-7", Model: exampleModel, Alternatives: []string{exampleOther},
	Failure: advice.Evidence{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
}

const exampleAdvised = "a3f1c2d4e5b69788776655443322110f"

// exampleAdvice is the answer to it.
func exampleAdvice() advice.Reply {
	by := *exampleSuggestion.DecidedBy
	return advice.Reply{
		Run: exampleAdvised, Failure: exampleFailure, Votes: []recovery.Vote{{
			Plugin: by.Plugin, Version: by.Version, Latency: by.Millis, Action: recovery.ActionSwitchModel, NewModel: exampleOther, Reason: by.Reason,
		}},
		Decision: recovery.Decision{Action: recovery.ActionSwitchModel, NewModel: exampleOther, Reason: by.Reason, By: &by},
	}
}

// many is an answer that lists one thing.
func many(name string, thing any) map[string]any { return map[string]any{name: []any{thing}} }

// exampleAttempt is a call that may be cut short for another model.
func exampleAttempt(id uint64, model, other string, at time.Time) *Attempt {
	return &Attempt{ID: id, Model: model, Of: 3, BeganAt: at, CutShort: &CutShort{
		ID: fmt.Sprintf("%s-a%d", exampleRun, id),
		Actions: []recovery.Button{
			{ID: "a1", Kind: recovery.ButtonRetryNow, Label: recovery.Label(recovery.ButtonRetryNow, ""), Effect: recovery.EffectRunner, Primary: true},
			{ID: "a2", Kind: recovery.ButtonSwitchModel, Label: recovery.Label(recovery.ButtonSwitchModel, other), Effect: recovery.EffectRunner, Model: other},
		},
	}}
}

// exampleFailed is the run when it asks a person.
func exampleFailed() Run {
	r := exampleGoesOn
	r.Status, r.Attempt, r.Error, r.Seq = recovery.StatusFailed, nil, &exampleFailure, 7
	r.UpdatedAt, r.ServerNow = exampleListed.UpdatedAt, exampleListed.UpdatedAt
	r.Meta.RecoverySuggestion = &exampleSuggestion
	return r
}

// exampleSwitched is the run after the person's answer.
func exampleSwitched() Run {
	r := exampleGoesOn
	r.Model, r.Attempt = exampleOther, exampleAttempt(2, exampleOther, exampleModel, exampleTime.Add(time.Minute))
	r.UpdatedAt, r.ServerNow, r.Seq = r.Attempt.BeganAt, r.Attempt.BeganAt, 9
	return r
}

func exampleCancelled() Run {
	r := exampleGoesOn
	r.Status, r.StopReason, r.Attempt, r.Seq = recovery.StatusCancelled, string(recovery.StatusCancelled), nil, 5
	return r
}
