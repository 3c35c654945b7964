package rules

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// FuzzParse: any file gives either rules that can be evaluated, or problems at places of the file.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(everyAction))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 16<<10 {
			return
		}
		rs, err := parseRules("fuzz", text)
		if err != nil {
			checkProblems(t, text, err)
			return
		}
		rs.unreachable()
		for _, kind := range failure.Kinds() {
			for _, rung := range rs.ladder(rs.Facts(Example{Kind: kind})) {
				checkVote(t, factsOf(event(nil)), rung.Outcome.Vote, false)
			}
		}
		facts := factsOf(event(nil))
		checkVote(t, facts, rs.decide(facts, 0.9).Vote, true)
	})
}

func checkProblems(t *testing.T, text []byte, err error) {
	problems := Problems(nil)
	if !errors.As(err, &problems) {
		t.Fatalf("%T: %v", err, err)
	}
	lines := newSource("", text).lines
	for _, p := range problems {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+2 || p.Text == "" {
			t.Fatalf("%+v", p)
		}
	}
}

// FuzzEvent: any file gives either facts or a problem.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"failure": {"kind": "quota", "resets_at": "2026-05-04T03:12:00Z", "elapsed": "2s"}, "attempt": 1}`))
	f.Add([]byte("failure:\n  kind: quota\ntried:\n- model: a/b\n  took: 2s\n"))
	rs := parse(f, everyAction)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 16<<10 {
			return
		}
		facts, err := parseEvent("fuzz", text)
		if err != nil {
			if problems := Problems(nil); !errors.As(err, &problems) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		rs.ladder(facts)
	})
}

// everyAction has a rule for everything that rules can do.
const everyAction = `rules:
  - when: failure.kind in ["overloaded", "unavailable", "timeout"] && failure.elapsed < duration("1h")
    retry: {after: 2s, backoff: 3.5, max: 168h}
    reason: "{{failure.title}} {{failure.retry_after}} {{failure.at}} {{tried[0].took}} {{alternatives[2].model}} {{remaining.dollars}}"
    adjust: {compact: true, max_output_tokens: 100, reasoning_effort: high}
    actions: [{kind: fix_key}, {kind: switch_model, model: a/b}, {kind: page, label: Page}]
  - when: alternatives.exists(a, a.context_tokens > 1000) || size(failure.provider_code) > 3
    switch_model: {to: [a/b, c/d], prefer: smaller_context}
  - when: failure.retryable
    switch_model: {prefer: other_provider}
  - when: partial_shown || elapsed > remaining.time
    retry: {after: 0s}
  - when: attempt % 2 == 0 && elapsed + failure.retry_after > duration("10s")
    fail: {reason: "{{failure.resets_in}}"}
`

// TestAnyEventGivesAValidVote asks rules of every kind about events of any kind.
func TestAnyEventGivesAValidVote(t *testing.T) {
	rs := parse(t, everyAction)
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		f := factsOf(e)
		checkVote(t, f, rs.decide(f, rapid.Float64Range(0, 0.999).Draw(t, "jitter")).Vote, true)
	})
}

func drawEvent(t *rapid.T) plugin.Event {
	model := rapid.SampledFrom([]string{"a/b", "c/d", "e/f/g", "x", "", "\xff"})
	millis := rapid.Map(rapid.Int64(), func(n int64) failure.Millis { return failure.Millis(n) })
	when := rapid.Map(rapid.Int64Range(-1<<40, 1<<40), func(s int64) time.Time { return time.Unix(s, 0) })
	e := plugin.Event{
		Model: model.Draw(t, "model"), Attempt: rapid.Int().Draw(t, "attempt"), Retries: rapid.Int().Draw(t, "retries"),
		Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), RemainingTime: time.Duration(rapid.Int64().Draw(t, "time")),
		Remaining:    recovery.Budget{Tokens: rapid.Int64().Draw(t, "tokens"), Microdollars: rapid.Int64().Draw(t, "money")},
		PartialShown: rapid.Bool().Draw(t, "shown"),
	}
	e.Failure = failure.Failure{
		Kind: failure.Kind(rapid.SampledFrom(append(kindNames(), "brand_new", "")).Draw(t, "kind")), Retryable: rapid.Bool().Draw(t, "retryable"),
		Title: rapid.String().Draw(t, "title") + "\xff", ProviderCode: rapid.String().Draw(t, "code"),
		RetryAfter: millis.Draw(t, "retry after"), Elapsed: millis.Draw(t, "took"), ResetsAt: when.Draw(t, "resets"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "alternatives") {
		e.Models = append(e.Models, recovery.Alternative{Model: model.Draw(t, "alternative"), ContextTokens: rapid.Int64().Draw(t, "context")})
	}
	for range rapid.IntRange(0, 6).Draw(t, "tried") {
		e.Tried = append(e.Tried, recovery.Tried{Model: model.Draw(t, "asked"), At: when.Draw(t, "at"), Millis: millis.Draw(t, "ms")})
	}
	return e
}

// checkVote holds a vote to what a host and recovery.Decide take.
func checkVote(t interface{ Fatalf(string, ...any) }, f *Facts, v recovery.Vote, offered bool) {
	switch {
	case !slices.Contains([]recovery.Action{"", recovery.ActionRetry, recovery.ActionSwitchModel, recovery.ActionFail}, v.Action):
		t.Fatalf("action %q", v.Action)
	case v.Delay < 0 || v.Delay > failure.MaxDelay:
		t.Fatalf("delay %d", v.Delay)
	case len(v.Reason) > recovery.MaxText || !utf8.ValidString(v.Reason):
		t.Fatalf("reason %q", v.Reason)
	case (v.Action == recovery.ActionSwitchModel) != (v.NewModel != ""):
		t.Fatalf("%s to %q", v.Action, v.NewModel)
	case len(v.Actions) > maxButtons || v.Adjust.MaxOutputTokens < 0:
		t.Fatalf("%+v", v)
	case offered && v.NewModel != "" && !slices.ContainsFunc(f.Alternatives, func(a Alternative) bool { return a.Model == v.NewModel && a.Model != f.Model }):
		t.Fatalf("switch from %q to %q", f.Model, v.NewModel)
	}
}

func BenchmarkDecide(b *testing.B) {
	text := "rules:\n"
	for _, kind := range failure.Kinds()[:9] {
		if kind != failure.KindOverloaded {
			text += "  - when: failure.kind == \"" + string(kind) + "\" && attempt < 3\n    retry: {after: 2s}\n"
		}
	}
	rs := parse(b, text+`
  - when: failure.kind == "overloaded" && alternatives.exists(a, a.context_tokens > 800)
    switch_model: {prefer: larger_context}
    reason: "{{failure.provider}} failed {{attempt}} times"
`)
	e := event(nil)
	b.ReportAllocs()
	for b.Loop() {
		if o := rs.decide(factsOf(e), 0.5); o.Vote.NewModel == "" {
			b.Fatal(o)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		parse(b, everyAction)
	}
}
