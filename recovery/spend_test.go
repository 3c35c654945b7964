package recovery

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"pgregory.net/rapid"
)

// TestI11ABudgetHolds has random and hostile plugins, people and models spend: no call
// begins that may exceed the budget as far as that is known, so that what a run spends is
// the budget and one call at the most.
func TestI11ABudgetHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)()
		p := &w.start.Policy
		p.Budget = Budget{
			Tokens:       rapid.SampledFrom([]int64{0, 15, 60, 200}).Draw(t, "budget"),
			Microdollars: rapid.SampledFrom([]int64{0, 40, 150}).Draw(t, "money"),
		}
		p.Prices = map[string]Price{"a/one": {Input: 1_000_000, Output: 5_000_000}, "b/two": {Input: 2_000_000}, "c/three": {}}
		dearest := Budget{Tokens: 110, Microdollars: 150} // the toy's summaries
		for model, script := range w.models {
			for _, o := range script {
				cost := p.Cost(model, o.usage)
				dearest = Budget{Tokens: max(dearest.Tokens, cost.Tokens), Microdollars: max(dearest.Microdollars, cost.Microdollars)}
			}
		}
		y := newToy(w)
		y.check = func(before *Run, e Event, after *Run) {
			reserve, begins := Budget{}, false
			switch b := e.Body.(type) {
			case Began:
				reserve, begins = b.Reserve, true
			case Compacting:
				reserve, begins = b.Reserve, true
			}
			if lacks := before.Policy.Budget.Lacks(before.Spent, reserve); begins && lacks != "" {
				t.Fatalf("a call begins that lacks %s: %+v of %+v are spent", lacks, before.Spent, before.Policy.Budget)
			}
			if over := sum(after.Policy.Budget, dearest).exceeded(after.Spent); over != "" {
				t.Fatalf("%+v are spent of %+v", after.Spent, after.Policy.Budget)
			}
		}
		y.start(t)
		y.loop(t)
	})
}

// sum adds more to a limit; an unlimited one stays unlimited.
func sum(limit, more Budget) Budget {
	if limit.Tokens > 0 {
		limit.Tokens += more.Tokens
	}
	if limit.Microdollars > 0 {
		limit.Microdollars += more.Microdollars
	}
	return limit
}

func TestCost(t *testing.T) {
	p := Policy{Prices: map[string]Price{
		"a/plain":  {Input: 3_000_000, Output: 15_000_000},
		"a/cached": {Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000},
		"a/dear":   {Input: math.MaxInt64, Output: math.MaxInt64},
	}}
	used := llm.Usage{InputTokens: 1000, OutputTokens: 100, CacheReadTokens: 10_000, CacheWriteTokens: 2000}
	absurd := llm.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64, CacheReadTokens: -5}
	for _, tt := range []struct {
		model string
		used  llm.Usage
		want  Budget
	}{
		{"a/plain", used, Budget{Tokens: 13_100, Microdollars: 13_000*3 + 100*15}},
		{"a/cached", used, Budget{Tokens: 13_100, Microdollars: 3000 + 1500 + 3000 + 7500}},
		{"a/unpriced", used, Budget{Tokens: 13_100}},
		{"a/dear", absurd, Budget{Tokens: 2 * maxUsage, Microdollars: maxUsage}},
	} {
		if got := p.Cost(tt.model, tt.used); got != tt.want {
			t.Errorf("%s: %+v, not %+v", tt.model, got, tt.want)
		}
	}
}

func TestOnlyABudgetReserves(t *testing.T) {
	p := Policy{Prices: map[string]Price{"a/one": {Input: 4_000_000, Output: 2_000_000}}}
	if got := p.reserve("a/one", 400, 50); got != (Budget{}) {
		t.Errorf("without a budget: %+v", got)
	}
	want := Budget{Tokens: 150, Microdollars: 500}
	for name, p := range map[string]Policy{
		"a run's": {Budget: Budget{Tokens: 1}, Prices: p.Prices}, "a day's": {DayBudget: Budget{Microdollars: 1}, Prices: p.Prices},
	} {
		if got := p.reserve("a/one", 400, 50); got != want {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
	}
}

func TestUnpriced(t *testing.T) {
	p := Policy{Models: []string{"a/one", "b/two"}, CompactionModel: "c/small", Prices: map[string]Price{"a/one": {}}}
	if got := p.Unpriced("a/one"); got != nil {
		t.Errorf("nobody counts money, and %v lack prices", got)
	}
	p.DayBudget.Microdollars = 1
	if got := strings.Join(p.Unpriced("d/new"), " "); got != "d/new b/two c/small" {
		t.Errorf("unpriced: %s", got)
	}
}

func TestOverDay(t *testing.T) {
	r := &Run{Model: "a/one", Policy: Policy{DayBudget: Budget{Tokens: 5000, Microdollars: 2_000_000}}}
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for part, want := range map[string]string{
		partTokens: "Today's runs have used 4,900 of 5,000 tokens. It renews at 00:00 UTC on March 2. The work so far is kept.",
		partMoney:  "Today's runs have used $0.0003 of $2.00. It renews at 00:00 UTC on March 2. The work so far is kept.",
	} {
		f := r.OverDay(part, Budget{Tokens: 4900, Microdollars: 300}, Budget{}, midnight).Failure
		if f.Message != want || f.Kind != failure.KindBudget || !f.ResetsAt.Equal(midnight) {
			t.Errorf("%s: %+v", part, f)
		}
	}
	f := r.OverDay(partTokens, Budget{Tokens: 4900}, Budget{Tokens: 1200}, midnight).Failure
	const want = "Today's budget is too small for the next call. It needs about 1,200 tokens, with 100 of 5,000 tokens left. It renews at 00:00 UTC on March 2. The work so far is kept."
	if f.Line() != want {
		t.Errorf("%q, want %q", f.Line(), want)
	}
}

func TestSpellCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -5: "-5", -123456: "-123,456"} {
		if got := words.Count(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}

func TestSpellDollars(t *testing.T) {
	for micro, want := range map[int64]string{0: "$0.00", 5: "$0.000005", 300: "$0.0003", 120_000: "$0.12", 1_200_000: "$1.20"} {
		if got := words.Dollars(micro); got != want {
			t.Errorf("%d: %s, not %s", micro, got, want)
		}
	}
}

// TestAFailedCallCountsWhatWasHeard: its provider reported the input, and a word of 4,000.
func TestAFailedCallCountsWhatWasHeard(t *testing.T) {
	p := DefaultPolicy()
	p.Budget.Tokens = 1_000_000
	r, err := Fold([]Event{
		{Run: "r1", Seq: 1, Body: Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: p}},
		{Run: "r1", Seq: 2, Body: Began{Attempt: 1, Round: 1, Model: "a/one", Reserve: Budget{Tokens: 30}}},
		{Run: "r1", Seq: 3, Body: Failed{
			Attempt: 1, Text: strings.Repeat("x", 16_000), Failure: *failure.NewFailure(failure.KindStreamInterrupted, failure.OriginModel, failure.PhaseMidStream, nil),
			Usage: llm.Usage{InputTokens: 50, OutputTokens: 1},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Spent.Tokens != 4050 || r.Usage.Total() != 51 {
		t.Errorf("counted %d, reported %d", r.Spent.Tokens, r.Usage.Total())
	}
}
