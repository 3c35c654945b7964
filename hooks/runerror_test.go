package hooks

import (
	"reflect"
	"testing"
	"time"

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
		Attempt: &recovery.Attempt{Text: []byte("par")},
		Call:    recovery.Call{Attempts: 2, Retries: 1, Tried: []recovery.Tried{{Model: "a/b"}}},
		Pending: []*recovery.ToolRun{
			{Call: llm.ToolCall{Name: "look"}, Safety: recovery.SafetyReadOnly, Tries: 1, InAir: true},
			{Call: llm.ToolCall{Name: "pay"}, Tries: 1, InAir: true},
			{Call: llm.ToolCall{Name: "paid"}, Tries: 1, Returned: true},
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
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	r.Pending[1].Orphan = true
	if e := NewRunError(r); e.ReplaySafety != ReplayUnknown {
		t.Errorf("an orphan: %s", e.ReplaySafety)
	}
}
