package show

import (
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

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
