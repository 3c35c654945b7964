package rules

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestLadderKnowsTheLimits compares what a ladder says of limits with the law.
func TestLadderKnowsTheLimits(t *testing.T) {
	for _, rules := range []string{
		"rules: [{when: true, retry: }]",
		"rules: [{when: true, retry: , adjust: {compact: true}}]",
		"rules: [{when: attempt == 0, switch_model: }, {when: true, retry: }]",
	} {
		rs := parse(t, rules)
		for _, kind := range failure.Kinds() {
			f := rs.Facts(Example{Kind: kind})
			rungs := rs.ladder(f)
			if len(rungs) > recovery.MaxAttemptsPerCall {
				t.Errorf("%s: %d attempts", kind, len(rungs))
			}
			retries := 0
			for n, rung := range rungs {
				if law := decided(kind, n, retries, rung.Outcome.Vote, f); law.BlockedBy != rung.Blocked {
					t.Errorf("%s, %s at attempt %d: %q, the law says %q", rules, kind, n, rung.Blocked, law.BlockedBy)
				}
				if rung.Outcome.Vote.Action == recovery.ActionRetry {
					retries++
				}
			}
		}
	}
}

// decided is the runner's decision about attempt n.
func decided(kind failure.Kind, n, retries int, v recovery.Vote, f *Facts) recovery.Decision {
	v.Plugin = "rules"
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	r := &recovery.Run{Policy: recovery.DefaultPolicy(), StartedAt: now, Model: f.Model}
	r.Policy.AutoRecover, r.Policy.Plugins = true, []string{"rules"}
	r.Call.Attempts, r.Call.Retries = n+1, retries
	for range 4 { // of a conversation that can be shortened
		r.Messages = append(r.Messages, llm.User("A question."), llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "An answer."}}})
	}
	if kind.Once() {
		r.Call.Once = n + 1
	}
	r.Open = &recovery.OpenFailure{
		At: now, Failure: *failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil), Votes: []recovery.Vote{v},
	}
	if kind == failure.KindToolFailure {
		r.Open.CallID = "call"
	}
	if over(kind) {
		r.Open.Cause = recovery.CauseBudget // such a failure is the run's own
	}
	for _, a := range f.Alternatives {
		r.Open.Alternatives = append(r.Open.Alternatives, recovery.Alternative{Model: a.Model})
	}
	return recovery.Decide(r)
}

// TestLadderEnds follows a call through retries and a switch to its end.
func TestLadderEnds(t *testing.T) {
	rs := parse(t, `rules:
  - when: attempt < 2
    retry: {after: 2s, jitter: false}
  - when: attempt > 3
    fail:
  - when: true
    switch_model: {to: [a/b, c/d]}
`)
	want := []string{"retry after 2s", "retry after 4s", "switch to a/b", "switch to c/d", "fail"}
	rungs := rs.ladder(rs.Facts(Example{Kind: failure.KindTimeout, Model: "x/y"}))
	for i, rung := range rungs {
		if i >= len(want) || rung.String() != want[i] || rung.Attempt != i {
			t.Errorf("attempt %d of %s: %s", rung.Attempt, rung.Model, rung)
		}
	}
	if len(rungs) != len(want) || rungs[4].Model != "c/d" {
		t.Errorf("%v", rungs)
	}
}
