package recovery

import (
	"math"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// openRun is a run whose only call has just failed.
func openRun(f *failure.Failure, votes ...Vote) *Run {
	p := DefaultPolicy()
	p.AutoRecover = true
	p.Plugins = []string{"p", "q"}
	p.Models = []string{"a/one", "b/two"}
	return &Run{
		ID: "r1", Seq: 4, Last: begin, StartedAt: begin, Policy: p, Model: "a/one", Status: StatusRunning,
		Call: Call{Attempts: 1}, FailedAttempts: 1,
		Open: &OpenFailure{Seq: 4, At: begin, Failure: *f, Votes: votes, Alternatives: []Alternative{{Model: "b/two"}}},
	}
}

func overloaded() *failure.Failure {
	return failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
}

func TestDecideElects(t *testing.T) {
	p := func(v Vote) Vote { v.Plugin = "p"; return v }
	q := Vote{Plugin: "q", Action: ActionFail}
	for _, c := range []struct {
		name    string
		votes   []Vote
		action  Action
		by      string
		ignored int
	}{
		{"nobody", nil, ActionNone, "", 0},
		{"order of the policy, not of the votes", []Vote{q, p(Vote{Action: ActionRetry})}, ActionRetry, "p", 0},
		{"no opinion", []Vote{p(Vote{}), q}, ActionFail, "q", 0},
		{"a plugin that broke", []Vote{p(Vote{Action: ActionRetry, Error: "timed out"}), q}, ActionFail, "q", 0},
		{"unknown action", []Vote{p(Vote{Action: "dance"}), q}, ActionFail, "q", 1},
		{"negative delay", []Vote{p(Vote{Action: ActionRetry, Delay: -1}), q}, ActionFail, "q", 1},
		{"absurd delay", []Vote{p(Vote{Action: ActionRetry, Delay: failure.MaxDelay + 1}), q}, ActionFail, "q", 1},
		{"invalid reason", []Vote{p(Vote{Action: ActionRetry, Reason: "\xff"}), q}, ActionFail, "q", 1},
		{"negative output", []Vote{p(Vote{Action: ActionRetry, Adjust: Adjust{MaxOutputTokens: -1}}), q}, ActionFail, "q", 1},
		{"unknown effort", []Vote{p(Vote{Action: ActionRetry, Adjust: Adjust{ReasoningEffort: "utmost"}}), q}, ActionFail, "q", 1},
		{"a model that is no alternative", []Vote{p(Vote{Action: ActionSwitchModel, NewModel: "evil/x"}), q}, ActionFail, "q", 1},
		{"a model", []Vote{p(Vote{Action: ActionSwitchModel, NewModel: "b/two"}), q}, ActionSwitchModel, "p", 0},
		{"a plugin nobody configured", []Vote{{Plugin: "z", Action: ActionRetry}}, ActionNone, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(openRun(overloaded(), c.votes...))
			by := ""
			if d.By != nil {
				by = d.By.Plugin
			}
			if d.Action != c.action || by != c.by || len(d.Ignored) != c.ignored || d.BlockedBy != "" {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestDecideDropsTheModelOfARetry(t *testing.T) {
	d := Decide(openRun(overloaded(), Vote{Plugin: "p", Action: ActionRetry, NewModel: "evil/x"}))
	if d.NewModel != "" {
		t.Errorf("a retry of %s", d.NewModel)
	}
}

func TestDecideDelays(t *testing.T) {
	for _, c := range []struct {
		name     string
		vote     Vote
		failure  func(*failure.Failure)
		attempts int
		want     failure.Millis
	}{
		{"as voted", Vote{Action: ActionRetry, Delay: 100}, nil, 1, 100},
		{"the third attempt pauses", Vote{Action: ActionRetry}, nil, 2, MinDelay},
		{"the provider's demand", Vote{Action: ActionRetry, Delay: 100}, func(f *failure.Failure) { f.RetryAfter = 700 }, 1, 700},
		{"is another model's no business", Vote{Action: ActionSwitchModel, NewModel: "b/two"}, func(f *failure.Failure) { f.RetryAfter = 700 }, 1, 0},
		{"until the reset", Vote{Action: ActionRetry}, func(f *failure.Failure) { f.ResetsAt = begin.Add(time.Minute) }, 1, 60_000},
		{"a reset long ago", Vote{Action: ActionRetry}, func(f *failure.Failure) { f.ResetsAt = begin.Add(-time.Minute) }, 1, 0},
		{"no overflow", Vote{Action: ActionRetry}, func(f *failure.Failure) { f.ResetsAt = begin.AddDate(2000, 0, 0) }, 1, failure.InMillis(math.MaxInt64)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := overloaded()
			if c.failure != nil {
				c.failure(f)
			}
			c.vote.Plugin = "p"
			r := openRun(f, c.vote)
			r.Call.Attempts = c.attempts
			if d := Decide(r); d.Delay != c.want || d.Delay < 0 {
				t.Errorf("delay %d, not %d", d.Delay, c.want)
			}
		})
	}
}

func TestDecideBlocks(t *testing.T) {
	retry, another := Vote{Plugin: "p", Action: ActionRetry}, Vote{Plugin: "p", Action: ActionSwitchModel, NewModel: "b/two"}
	for _, c := range []struct {
		want   string
		vote   Vote
		change func(*Run)
	}{
		{"", retry, func(*Run) {}},
		{"run_timeout", retry, func(r *Run) { r.Open.Failure.Kind, r.Open.Cause = failure.KindRunTimeout, CauseClock }},
		{"", retry, func(r *Run) { r.Open.Failure.Kind = failure.KindRunTimeout }},
		{"crash_loop", another, func(r *Run) { r.Crashes = MaxInterruptedCrashes }},
		{"max_attempts", another, func(r *Run) { r.Call.Attempts = MaxAttemptsPerCall }},
		{"", another, func(r *Run) { r.Call.Attempts, r.Call.Granted = MaxAttemptsPerCall, 1 }},
		{"max_failed_attempts", another, func(r *Run) { r.FailedAttempts = MaxFailedAttempts }},
		{"budget", another, func(r *Run) { r.Policy.Budget.Tokens, r.Spent.Tokens = 10, 10 }},
		{"budget", another, func(r *Run) { r.Policy.Budget.Microdollars, r.Spent.Microdollars = 10, 10 }},
		{"not_retryable", retry, func(r *Run) {
			r.Open.Failure = *failure.NewFailure(failure.KindAuth, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		}},
		{"", another, func(r *Run) {
			r.Open.Failure = *failure.NewFailure(failure.KindAuth, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		}},
		{"idle_breaker", retry, func(r *Run) { r.IdleExpiries = silent(r.Model) }},
		{"", another, func(r *Run) { r.IdleExpiries = silent(r.Model) }},
		{"max_retries", retry, func(r *Run) { r.Call.Retries = 3 }},
		{"", another, func(r *Run) { r.Call.Retries = 3 }},
		{"", retry, func(r *Run) { r.Call.Retries, r.Policy.AutoRecover = 3, false }},
		{"max_turn", retry, func(r *Run) { r.Policy.Timeouts.MaxTurn, r.Open.Failure.RetryAfter = 500, 1000 }},
		{"max_delay", retry, func(r *Run) { r.Open.Failure.ResetsAt = r.Open.At.Add(failure.MaxDelay.Duration() + time.Hour) }},
		{"run", retry, func(r *Run) { r.Policy.Timeouts.Run, r.Open.Failure.RetryAfter = 100_000, 200_000 }},
	} {
		t.Run(c.want, func(t *testing.T) {
			r := openRun(overloaded(), c.vote)
			c.change(r)
			if d := Decide(r); d.BlockedBy != c.want {
				t.Errorf("blocked by %q, not %q", d.BlockedBy, c.want)
			}
		})
	}
}

// silent is a model whose idle breaker is open.
func silent(model string) map[string]int { return map[string]int{model: IdleBreakerAt} }

func TestInMillisNeverOverflows(t *testing.T) {
	for d, want := range map[time.Duration]failure.Millis{
		0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, -time.Second: -1000, math.MaxInt64: math.MaxInt64/1_000_000 + 1,
	} {
		if got := failure.InMillis(d); got != want {
			t.Errorf("%d ns are %d ms, not %d", d, got, want)
		}
	}
}

// TestI12FailedAttemptsOfARun: rounds that fail and are saved each time use the
// run's failed attempts up, though no single call does.
func TestI12FailedAttemptsOfARun(t *testing.T) {
	story := "policy auto retries=9 plugins=p\ntool x read_only 1s\nplugin p * retry\n"
	for range MaxFailedAttempts {
		story += "model a/one fail overloaded\nmodel a/one call x\n"
	}
	y := play(t, parseStory(t, "", story))
	if y.run.FailedAttempts != MaxFailedAttempts || y.run.Suggestion == nil || y.run.Suggestion.BlockedBy != "max_failed_attempts" {
		t.Errorf("%d failed attempts, then %+v", y.run.FailedAttempts, y.run.Suggestion)
	}
}
