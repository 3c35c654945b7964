package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

func parse(t testing.TB, text string) *Rules {
	t.Helper()
	rs, err := parseRules("recovery.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// event is an ordinary failure, amended by change.
func event(change func(*plugin.Event)) plugin.Event {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	e := plugin.Event{
		Model: "work/fable-1", MaxRetries: 3, AutoRecover: true, RemainingAttempts: 5, ReplaySafety: "safe",
		Models: []recovery.Alternative{
			{Model: "work/fable-2", ContextTokens: 100}, {Model: "home/atlas-1"}, {Model: "home/atlas-2", ContextTokens: 900},
		},
		Tried: []recovery.Tried{{Model: "work/fable-1", At: at, Millis: 2000}},
	}
	e.Failure = *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	e.Failure.Provider, e.Failure.Model = "work", e.Model
	if change != nil {
		change(&e)
	}
	return e
}

func TestFirstMatchWins(t *testing.T) {
	rs := parse(t, `rules:
  - when: failure.kind == "quota"
    fail:
  - name: patient
    when: failure.kind == "overloaded" && attempt < 2
    retry: {after: 2s, jitter: false}
    reason: "{{model}} at {{attempt}}, {{failure.at}}, {{remaining.attempts}} left"
    actions: [{kind: fix_key}, {kind: page, label: Page somebody}]
    adjust: {compact: true, max_output_tokens: 16384, reasoning_effort: low, continue: true}
  - when: true
    fail:
`)
	o := rs.decide(factsOf(event(nil)), 0.5)
	v := o.Vote
	if o.Rule.String() != "rule 2 (patient)" || v.Action != recovery.ActionRetry || v.Delay != 2000 {
		t.Errorf("%v %+v", o.Rule, v)
	}
	if v.Reason != "work/fable-1 at 0, 2026-05-04 03:02 UTC, 5 left" {
		t.Errorf("reason %q", v.Reason)
	}
	if want := (recovery.Adjust{Compact: true, MaxOutputTokens: 16384, ReasoningEffort: "low", Continue: true}); v.Adjust != want {
		t.Errorf("%+v", v.Adjust)
	}
	if len(v.Actions) != 2 || v.Actions[0].Effect != recovery.EffectClient || v.Actions[1].Label != "Page somebody" {
		t.Errorf("%+v", v.Actions)
	}
	o = rs.decide(factsOf(event(func(e *plugin.Event) { e.Attempt = 2 })), 0)
	if o.Rule.Number != 3 || o.Vote.Action != recovery.ActionFail || o.Vote.Reason != "Rule 3 applies" {
		t.Errorf("%v %+v", o.Rule, o.Vote)
	}
}

func TestNoMatchIsNoOpinion(t *testing.T) {
	for _, text := range []string{"rules: []", "rules:\n  - when: false\n    fail:\n"} {
		if o := parse(t, text).decide(factsOf(event(nil)), 0); o.Rule != nil || o.Vote.Action != recovery.ActionNone {
			t.Errorf("%q: %+v", text, o)
		}
	}
}

func TestRetryDelays(t *testing.T) {
	for _, c := range []struct {
		retry    string
		failures int // of this model so far, this one included
		jitter   float64
		want     failure.Millis
	}{
		{"", 1, 0, 1000},
		{"", 3, 0, 4000},
		{"", 1, 0.5, 1125},
		{"", 1000, 0.9, 60_000},
		{"{after: 2s, jitter: false}", 2, 0.9, 4000},
		{"{after: 2s, backoff: 1, jitter: false}", 4, 0, 2000},
		{"{after: 2s, backoff: 2.5, max: 3s, jitter: false}", 2, 0, 3000},
		{"{after: 0s}", 5, 0.9, 0},
		{"{after: 5m, jitter: false}", 3, 0, 300_000}, // max is never less than after
		{"{after: 168h, backoff: 10, max: 168h}", 6, 0.9, failure.MaxDelay},
	} {
		rs := parse(t, "rules:\n  - when: true\n    retry: "+c.retry)
		e := event(func(e *plugin.Event) {
			e.Tried = make([]recovery.Tried, c.failures, c.failures+1)
			for i := range e.Tried {
				e.Tried[i].Model = e.Model
			}
			e.Tried = append(e.Tried, recovery.Tried{Model: "other/model"})
		})
		if got := rs.decide(factsOf(e), c.jitter).Vote.Delay; got != c.want {
			t.Errorf("%s after %d with %v: %d ms, not %d", c.retry, c.failures, c.jitter, got, c.want)
		}
	}
}

func TestSwitchChoosesAModel(t *testing.T) {
	for _, c := range []struct{ how, want string }{
		{"", "work/fable-2"},
		{"{prefer: order}", "work/fable-2"},
		{"{prefer: larger_context}", "home/atlas-2"},
		{"{prefer: smaller_context}", "work/fable-2"},
		{"{prefer: same_provider}", "work/fable-2"},
		{"{prefer: other_provider}", "home/atlas-1"},
		{"{to: [nobody/x, home/atlas-2, home/atlas-1]}", "home/atlas-2"},
		{"{to: [home/atlas-1, home/atlas-2], prefer: larger_context}", "home/atlas-2"},
		{"{to: [home/atlas-2, home/atlas-1], prefer: other_provider}", "home/atlas-2"},
		{"{to: [home/atlas-1, work/fable-2], prefer: same_provider}", "work/fable-2"},
		{"{to: [work/fable-1]}", ""}, // the one that failed
		{"{to: [failed/before]}", ""},
		{"{to: [nobody/x]}", ""},
	} {
		rs := parse(t, "rules:\n  - when: true\n    switch_model: "+c.how+"\n  - when: true\n    fail:\n")
		e := event(func(e *plugin.Event) {
			e.Models = append(e.Models, recovery.Alternative{Model: "failed/before"}, recovery.Alternative{Model: e.Model})
			e.Tried = append(e.Tried, recovery.Tried{Model: "failed/before"})
		})
		o := rs.decide(factsOf(e), 0)
		if o.Vote.NewModel != c.want {
			t.Errorf("%s: %q, not %q", c.how, o.Vote.NewModel, c.want)
		}
		if c.want == "" && (o.Rule.Number != 2 || !errors.Is(o.Notes[0].Err, errNoModel)) {
			t.Errorf("%s: rule %v, %v", c.how, o.Rule, o.Notes)
		}
	}
}

// TestConditions says what conditions may speak of.
func TestConditions(t *testing.T) {
	e := event(func(e *plugin.Event) {
		e.Failure.RetryAfter, e.Failure.HTTPStatus, e.Failure.ProviderCode = 7000, 529, "overloaded_error"
		e.Failure.ResetsAt = time.Date(2026, 5, 4, 3, 12, 3, 0, time.UTC)
		e.Remaining = recovery.Budget{Tokens: 500, Microdollars: -1}
		e.Elapsed, e.UnsafeTools = 90*time.Second, []string{"pay"}
	})
	for _, when := range []string{
		`failure.kind == "overloaded" && failure.code == "MODEL_PROVIDER_UNAVAILABLE"`,
		`failure.retry_after > duration("5s") && failure.retry_after < duration("1m")`,
		`failure.http_status == 529 && failure.retryable && failure.provider_code.startsWith("over")`,
		`failure.origin == "model" && failure.phase == "before_first_event" && failure.timer == ""`,
		`has(failure.resets_at) && failure.resets_in == duration("10m")`,
		`failure.at == timestamp("2026-05-04T03:02:03Z") && failure.at.getHours() == 3`,
		`failure.at.getHours("Europe/Oslo") == 5`,
		`failure.provider == "work" && failure.model == model`,
		`size(alternatives) == 3 && alternatives.exists(a, a.provider == "home" && a.context_tokens > 800)`,
		`alternatives.map(a, a.model)[0] == "work/fable-2"`,
		`tried.size() == 1 && tried[0].took == duration("2s")`,
		`remaining.tokens < 1000 && remaining.dollars == 0.0`,
		`remaining.time > duration("1000h") && remaining.attempts == 5`,
		`elapsed >= duration("90s") && "pay" in unsafe_tools`,
		`auto_recover && !partial_shown && !idle_breaker && idle_expiries == 0 && replay_safety == "safe"`,
		`attempt + retries < max_retries`,
		`model.matches("^work/")`,
	} {
		x, flaws := compile(when)
		if len(flaws) > 0 {
			t.Errorf("%s: %v", when, flaws)
			continue
		}
		if holds, err := x.holds(newScope(factsOf(e))); err != nil || !holds {
			t.Errorf("%s: %v, %v", when, holds, err)
		}
	}
	e = event(func(e *plugin.Event) { e.Tried = nil })
	for _, when := range []string{
		`!has(failure.at) && !has(failure.resets_at) && failure.resets_in == duration("0s")`,
		`remaining.tokens > 1000000000 && remaining.dollars > 1e12`,
	} {
		x, _ := compile(when)
		if holds, err := x.holds(newScope(factsOf(e))); err != nil || !holds {
			t.Errorf("%s: %v, %v", when, holds, err)
		}
	}
}

func TestWhatCannotBeEvaluatedDoesNotMatch(t *testing.T) {
	rs := parse(t, `rules:
  - when: alternatives[99].model == "a/b"
    fail:
  - name: costly
    when: alternatives.exists(a, alternatives.exists(b, alternatives.exists(c, a.model + b.model + c.model == "")))
    fail:
  - when: true
    retry:
    reason: "{{tried[9].model}} failed"
`)
	e := event(func(e *plugin.Event) {
		for i := range 60 {
			e.Models = append(e.Models, recovery.Alternative{Model: fmt.Sprintf("home/%d", i)})
		}
	})
	o := rs.decide(factsOf(e), 0)
	if o.Vote.Action != recovery.ActionRetry || o.Vote.Reason != "? failed" || len(o.Notes) != 3 {
		t.Fatalf("%+v", o)
	}
	if !strings.Contains(o.Notes[0].Err.Error(), "out of bounds") || !strings.Contains(o.Notes[1].Err.Error(), "cost limit") {
		t.Errorf("%v", o.Notes)
	}
	var out strings.Builder
	p, logger := &policy{}, slog.New(slog.NewTextHandler(&out, nil))
	for range 3 {
		p.log(logger, rs, o.Notes)
	}
	if n := strings.Count(out.String(), "cannot be evaluated"); n != 3 || !strings.Contains(out.String(), `rule="rule 2 (costly)"`) {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

func TestServe(t *testing.T) {
	p := &policy{}
	if d, err := p.runError(context.Background(), event(nil)); err != nil || d.Action != "" {
		t.Errorf("before it is configured: %+v, %v", d, err)
	}
	if err := p.configure(json.RawMessage(`{"rules":[{"when":"failure.kind == \"over\u006coaded\" \u0026\u0026 attempt \u003c 1","retry":{"after":"3s","jitter":false},"reason":"\ud83d\ude00"}]}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.configure(json.RawMessage(`{"rules":[{}]}`)); err == nil {
		t.Error("a wrong configuration was taken")
	}
	d, err := p.runError(context.Background(), event(nil))
	if err != nil || d.Action != recovery.ActionRetry || d.Delay != 3*time.Second || d.Reason != "😀" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		``:                            "nothing is configured",
		`null`:                        "nothing is configured",
		`{}`:                          "nothing is configured",
		`{"file":"x","rules":[]}`:     "not both",
		`{"fiel":"x"}`:                "fiel",
		`{"file":"no/such/file"}`:     "no/such/file",
		`{"rules":[{"when":"true"}]}`: "exactly one of",
		`[]`:                          "",
	} {
		if rs, err := ParseConfig(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", raw, rs, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	for _, c := range []struct{ name, rules, want string }{
		{"the same", `[{when: attempt < 2, retry: }, {when: "attempt<2", fail: }]`, "[2]"},
		{"more demands", `[{when: attempt < 2, retry: }, {when: auto_recover && attempt < 2, fail: }]`, "[2]"},
		{"fewer demands", `[{when: auto_recover && attempt < 2, retry: }, {when: attempt < 2, fail: }]`, "[]"},
		{"true before", `[{when: true, fail: }, {when: attempt < 2, retry: }, {when: true, fail: }]`, "[2 3]"},
		{"never", `[{when: false, fail: }, {when: attempt < 2 && false, retry: }]`, "[1 2]"},
		{"a kind of several", `[{when: 'failure.kind in ["quota","auth"]', fail: }, {when: 'failure.kind == "auth"', retry: }]`, "[2]"},
		{"another kind", `[{when: 'failure.kind in ["quota","auth"]', fail: }, {when: 'failure.kind == "tls"', retry: }]`, "[]"},
		{"one kind of two", `[{when: 'failure.kind == "auth"', fail: }, {when: 'failure.kind in ["quota","auth"]', retry: }]`, "[]"},
		{"kinds by several rules", `[{when: '"auth" == failure.kind', fail: }, {when: 'failure.kind == "quota"', fail: }, {when: 'failure.kind in ["quota","auth"] && attempt > 1', retry: }]`, "[3]"},
		{"two kinds at once", `[{when: 'failure.kind == "auth" && failure.kind == "quota"', fail: }]`, "[1]"},
		{"not that kind", `[{when: 'failure.kind != "auth"', fail: }, {when: 'failure.kind == "auth"', fail: }]`, "[]"},
		{"a switch may pass", `[{when: attempt < 2, switch_model: }, {when: attempt < 2, fail: }]`, "[]"},
	} {
		found := []int{}
		for _, u := range parse(t, "rules: "+c.rules).unreachable() {
			found = append(found, u.Rule.Number)
		}
		if fmt.Sprint(found) != c.want {
			t.Errorf("%s: %v, not %s", c.name, found, c.want)
		}
	}
}

func TestParseEvent(t *testing.T) {
	f, err := parseEvent("event.json", []byte(`{"failure": {"kind": "quota", "resets_at": "2026-05-04T03:12:00Z", "at": "2026-05-04T03:02:00Z"},
		"model": "a/b", "attempt": 2, "remaining": {"tokens": 500}, "alternatives": [{"model": "c/d", "context_tokens": 7}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Failure.Code != "MODEL_PROVIDER_RATE_LIMITED" || f.Failure.Provider != "a" || f.Failure.ResetsIn != 10*time.Minute ||
		f.Retries != 2 || len(f.Tried) != 3 || f.Alternatives[0].Provider != "c" || f.Remaining.Tokens != 500 || f.Remaining.Time != unlimited.Time {
		t.Errorf("%+v", f)
	}
	for text, want := range map[string]string{
		``: "at least",
		`{"failure": {"kind": "quota"}, "attempt": 99}`:         "between 0 and 7",
		`{"failure": {"knd": "quota"}}`:                         `1:14: unknown field "knd"`,
		`{"failure": {"kind": "quota", "elapsed": 7}}`:          "1:42: this should be a duration",
		`{"failure": {"kind": "quota"}, "attempt": "x"}`:        "should be a number",
		`{"failure": {"kind": "quota", "resets_at": "monday"}}`: "monday",
		`{`: "1:1",
	} {
		if f, err := parseEvent("e", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
}

func TestLoadIsBounded(t *testing.T) {
	long := "rules: [] #" + strings.Repeat("x", maxFile)
	many := "rules:\n" + strings.Repeat("  - {when: true, fail: }\n", maxRules+1)
	for name, text := range map[string]string{
		"long": long, "many": many, "brackets": strings.Repeat("[", 20_000), "maps": strings.Repeat("{a: ", 20_000),
		"dashes": strings.Repeat("- ", 20_000), "expression": "rules: [{fail: , when: '" + strings.Repeat("true || ", 600) + "true'}]",
		"parentheses": "rules: [{fail: , when: '" + strings.Repeat("(", 1500) + "true" + strings.Repeat(")", 1500) + "'}]",
		"utf8":        "rules: []\n\xff",
	} {
		if _, err := parseRules("f", []byte(text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := parseRules("f", []byte("rules:\n"+strings.Repeat("  - {when: true, fail: }\n", maxRules))); err != nil {
		t.Error(err)
	}
}
