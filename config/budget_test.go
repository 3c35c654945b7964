package config

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
)

func TestBudgetsAndPrices(t *testing.T) {
	c, err := Parse([]byte(`
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
	if run, day := c.Budget.OfRun(), c.Budget.OfDay(); run != (recovery.Budget{Tokens: 1, Microdollars: 100_000}) || day != (recovery.Budget{Tokens: 2, Microdollars: 1}) {
		t.Errorf("%+v, %+v", run, day)
	}
	if got := c.prices()["work/one"]; got != (recovery.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}) {
		t.Errorf("%+v", got)
	}
	if err := c.CheckPrices(); err != nil {
		t.Error(err)
	}
}

// TestThePriceToAdd follows the error's own advice.
func TestThePriceToAdd(t *testing.T) {
	const source = "model: openrouter/anthropic/claude:beta\nbudget: {dollars: 1}\n"
	c, err := Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	err = c.CheckPrices()
	if err == nil {
		t.Fatal("money cannot be counted, and nobody minds")
	}
	_, advice, _ := strings.Cut(err.Error(), "\n\n")
	if c, err = Parse([]byte(source + advice + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := c.CheckPrices(); err != nil {
		t.Error(err)
	}
}
