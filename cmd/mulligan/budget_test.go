package main

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

func TestBudgetsAndPrices(t *testing.T) {
	c, err := parseConfig([]byte(`
model: work/one
budget: {tokens: 1, dollars: 0.1, day_tokens: 2, day_dollars: 0.0000001}
providers:
  work:
    type: anthropic
    models:
      one: {price: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if run, day := c.Budget.ofRun(), c.Budget.ofDay(); run != (recovery.Budget{Tokens: 1, Microdollars: 100_000}) || day != (recovery.Budget{Tokens: 2, Microdollars: 1}) {
		t.Errorf("%+v, %+v", run, day)
	}
	if got := c.prices()["work/one"]; got != (recovery.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}) {
		t.Errorf("%+v", got)
	}
	if err := c.checkPrices(); err != nil {
		t.Error(err)
	}
}

// TestThePriceToAdd follows the error's own advice.
func TestThePriceToAdd(t *testing.T) {
	const source = "model: openrouter/anthropic/claude:beta\nbudget: {dollars: 1}\n"
	c, err := parseConfig([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	err = c.checkPrices()
	if err == nil {
		t.Fatal("money cannot be counted, and nobody minds")
	}
	_, advice, _ := strings.Cut(err.Error(), "\n\n")
	if c, err = parseConfig([]byte(source + advice + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := c.checkPrices(); err != nil {
		t.Error(err)
	}
}

func TestUsageLine(t *testing.T) {
	for want, r := range map[string]recovery.Run{
		"Used 0 tokens": {},
		"Used 1 token":  {Usage: llm.Usage{InputTokens: 1}},
		"Used 12,345 tokens ($0.12) · wasted 1,200 by 2 failed attempts · saved 8,000 that were not asked again": {
			Usage: llm.Usage{InputTokens: 12_000, OutputTokens: 345}, Spent: recovery.Budget{Tokens: 12_345, Microdollars: 123_000},
			Wasted: llm.Usage{OutputTokens: 1200}, FailedAttempts: 2, Saved: llm.Usage{InputTokens: 8000},
		},
		"Used 20 tokens ($0.0003) · wasted 20 by 1 failed attempt": {
			Usage: llm.Usage{InputTokens: 20}, Spent: recovery.Budget{Microdollars: 300}, Wasted: llm.Usage{InputTokens: 20}, FailedAttempts: 1,
		},
	} {
		if got := usageLine(&r); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
