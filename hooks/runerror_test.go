package hooks

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

func TestNewRunError(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	policy := recovery.DefaultPolicy()
	policy.AutoRecover = true
	policy.Budget = recovery.Budget{Tokens: 10, Microdollars: 100}
	r := &recovery.Run{
		ID: "r1", Session: "s1", StartedAt: start, Policy: policy, Model: "a/b", Parked: time.Second,
		Spent: recovery.Budget{Tokens: 12, Microdollars: 40}, IdleExpiries: map[string]int{"a/b": recovery.IdleBreakerAt},
		Attempt: &recovery.Attempt{Text: "par"},
		Call:    recovery.Call{Attempts: 2, Retries: 1, Tried: []recovery.Tried{{Model: "a/b"}}},
		Pending: []*recovery.ToolRun{
			{Call: llm.ToolCall{Name: "look"}, Safety: recovery.SafetyReadOnly, Tries: 1, State: recovery.ToolCallInAir},
			{Call: llm.ToolCall{Name: "pay"}, Tries: 1, State: recovery.ToolCallInAir},
			{Call: llm.ToolCall{Name: "paid"}, Tries: 1, State: recovery.ToolCallReturned},
			{Call: llm.ToolCall{Name: "later"}},
		},
		Open: &recovery.OpenFailure{At: start.Add(11 * time.Second), Attempt: 1, Alternatives: []recovery.Alternative{{Model: "c/d"}}},
	}
	e := NewRunError(r)
	want := RunError{
		Run: "r1", Session: "s1", Model: "a/b", Attempt: 1, Retries: 1, MaxRetries: 3, AutoRecover: true,
		Elapsed: 10_000, Remaining: recovery.Budget{Tokens: -1, Microdollars: 60}, RemainingAttempts: 4,
		RemainingTime: policy.Timeouts.Run - 11_000, // the run's own time does not stand still
		Tried:         r.Call.Tried, Alternatives: r.Open.Alternatives,
		ReplaySafety: ReplayUnsafe, UnsafeTools: []string{"pay"}, PartialShown: true, IdleBreaker: true, IdleExpiries: 5, Time: r.Open.At,
		Spent: r.Spent, About: recovery.Alternative{Model: "a/b"},
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	r.Policy.Prices, r.Policy.Local = map[string]recovery.Price{"c/d": {Output: 7}}, []string{"c/d"}
	if got := NewRunError(r).Alternatives[0]; got.Price == nil || got.Price.Output != 7 || !got.Local || r.Open.Alternatives[0].Price != nil {
		t.Errorf("%+v", got)
	}
	r.Pending[1].State = recovery.ToolCallOrphaned
	if e := NewRunError(r); e.ReplaySafety != ReplayUnknown {
		t.Errorf("an orphan: %s", e.ReplaySafety)
	}
}

// TestTheOriginalContractsWords: how an attempt ended, as the original contract says it.
func TestTheOriginalContractsWords(t *testing.T) {
	for name, c := range map[string]struct {
		failure                   failure.Failure
		cause                     recovery.Cause
		aborted, timedOut, prompt bool
	}{
		"the provider is overloaded":  {failure: failure.Failure{Kind: failure.KindOverloaded}},
		"the provider had no time":    {failure: failure.Failure{Kind: failure.KindTimeout, HTTPStatus: 504}, timedOut: true},
		"our timer fired":             {failure: failure.Failure{Kind: failure.KindTimeout, Timer: failure.TimerIdle}, aborted: true, timedOut: true},
		"the turn is over":            {failure: failure.Failure{Kind: failure.KindMaxTurnTime, Timer: failure.TimerMaxTurn}, cause: recovery.CauseClock, aborted: true, timedOut: true},
		"the process died":            {failure: failure.Failure{Kind: failure.KindInterrupted}, aborted: true},
		"a person did not wait":       {failure: failure.Failure{Kind: failure.KindTimeout}, cause: recovery.CauseCutShort, aborted: true, timedOut: true},
		"there could be no request":   {failure: failure.Failure{Kind: failure.KindPromptFailure, Detail: "no such image"}, prompt: true},
		"nor is it said why that was": {failure: failure.Failure{Kind: failure.KindPromptFailure, Title: "no such image"}, prompt: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewRunError(&recovery.Run{SessionKey: "agent:main", AgentID: "main", Open: &recovery.OpenFailure{Failure: c.failure, Cause: c.cause}})
			if e.SessionKey != "agent:main" || e.AgentID != "main" || e.Aborted != c.aborted || e.TimedOut != c.timedOut || (e.PromptError == "no such image") != c.prompt {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestSwitchIsSwitchModel: the original contract's word for it is taken from whoever says it.
func TestSwitchIsSwitchModel(t *testing.T) {
	hook := Named{Name: "h", Hook: Func(func(context.Context, RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: "switch", NewModel: "b/two"}, nil
	})}
	var votes []recovery.Vote
	Dispatch(t.Context(), []Named{hook}, RunError{}, Deadlines{}, func(v recovery.Vote) { votes = append(votes, v) })
	if len(votes) != 1 || votes[0].Action != recovery.ActionSwitchModel || votes[0].NewModel != "b/two" {
		t.Errorf("%+v", votes)
	}
	var d recovery.Decision
	if err := json.Unmarshal([]byte(`{"action":"switch","newModel":"b/two"}`), &d); err != nil || d.Action != recovery.ActionSwitchModel {
		t.Errorf("%+v, %v", d, err)
	}
	written, err := json.Marshal(recovery.Suggestion{SuggestedAction: d.Action, NewModel: d.NewModel, Attempt: 1})
	if err != nil || !strings.Contains(string(written), `"suggestedAction":"switch_model","newModel":"b/two","attempt":1`) {
		t.Errorf("%s, %v", written, err)
	}
}
