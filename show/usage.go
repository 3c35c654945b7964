package show

import (
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// usageLine says what a run has used, and how much of it went to failed attempts.
func usageLine(r *recovery.Run) string {
	said := "Used " + tokenCount(r.Usage.Total())
	if r.Spent.Microdollars > 0 {
		said += " (" + words.Dollars(r.Spent.Microdollars) + ")"
	}
	if wasted := r.Wasted.Total(); wasted > 0 {
		said += fmt.Sprintf(" · wasted %s by %s", words.Count(wasted), Plural(r.FailedAttempts, "failed attempt", "failed attempts"))
	}
	if saved := r.Saved.Total(); saved > 0 {
		said += fmt.Sprintf(" · saved %s that were not asked again", words.Count(saved))
	}
	return said
}

// Amount is a budget in words: "200,000 tokens, $5.00"; "" for nothing.
func Amount(b recovery.Budget) string {
	var parts []string
	if b.Tokens > 0 {
		parts = append(parts, tokenCount(b.Tokens))
	}
	if b.Microdollars > 0 {
		parts = append(parts, words.Dollars(b.Microdollars))
	}
	return strings.Join(parts, ", ")
}

func tokenCount(n int64) string {
	if n == 1 {
		return "1 token"
	}
	return words.Count(n) + " tokens"
}
