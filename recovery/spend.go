package recovery

import (
	"cmp"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// maxUsage bounds the tokens of each kind that a provider may report for one call, so that no price
// turns them into an absurd sum.
const maxUsage = 1 << 40

// reserve is about what a call costs that has input bytes of input and output tokens of output (0 if
// that is not limited). It is zero if the policy has no budget.
func (p Policy) reserve(model string, input, output int) Budget {
	if !p.Budget.limited() && !p.DayBudget.limited() {
		return Budget{}
	}
	return p.Cost(model, llm.Usage{InputTokens: llm.Tokens(input), OutputTokens: int64(output)})
}

// Cost is what a call used: every token counts, and money if the price is known.
func (p Policy) Cost(model string, u llm.Usage) Budget {
	u = llm.Usage{
		InputTokens: usable(u.InputTokens), OutputTokens: usable(u.OutputTokens),
		CacheReadTokens: usable(u.CacheReadTokens), CacheWriteTokens: usable(u.CacheWriteTokens),
	}
	price := p.Prices[model]
	const million = 1e6 // tokens
	money := worth(u.InputTokens, price.Input) + worth(u.OutputTokens, price.Output) +
		worth(u.CacheReadTokens, cmp.Or(price.CacheRead, price.Input)) +
		worth(u.CacheWriteTokens, cmp.Or(price.CacheWrite, price.Input))
	return Budget{Tokens: u.Total(), Microdollars: int64(min(money/million, maxUsage))}
}

// unreported is what a failed attempt cost beyond what its provider reported before it failed: the
// provider reports the rest only at the end of a stream, which never came.
func (p Policy) unreported(a *Attempt, said *Digest, used llm.Usage) Budget {
	if !p.Budget.limited() && !p.DayBudget.limited() {
		return Budget{}
	}
	heard := llm.Tokens(a.heard(said) - a.Base)
	return p.Cost(a.Model, llm.Usage{OutputTokens: llm.Difference(heard, used.OutputTokens)})
}

func usable(tokens int64) int64 { return min(max(0, tokens), maxUsage) }

// worth is a price for tokens. It cannot overflow, and is exact for any realistic sum.
func worth(tokens, price int64) float64 { return float64(tokens) * float64(price) }

// Unpriced lists the models that p's runs may ask, model first, and that have no price although a
// budget of money is set, so that their calls cannot be counted. A price of zero counts as a price.
func (p Policy) Unpriced(model string) []string {
	if p.Budget.Microdollars <= 0 && p.DayBudget.Microdollars <= 0 {
		return nil
	}
	asked := append([]string{model}, p.Models...)
	if p.CompactionModel != "" {
		asked = append(asked, p.CompactionModel)
	}
	var unpriced []string
	for _, name := range asked {
		if _, ok := p.Prices[name]; !ok && !slices.Contains(unpriced, name) {
			unpriced = append(unpriced, name)
		}
	}
	return unpriced
}

// OverDay is the failure of a call for which the day's budget has no room: part is what
// DayBudget.Lacks names, spent what the runs of the day have used, needs what the call would use,
// and renewal when the next day begins.
func (r *Run) OverDay(part string, spent, needs Budget, renewal time.Time) Failed {
	f := r.failure(failure.KindBudget, failure.OriginRunner, failure.PhasePrompt)
	f.Variant, f.ResetsAt = failure.VariantDayTokens, renewal
	if part == partMoney {
		f.Variant = failure.VariantDayMoney
	}
	f.Describe(budgetWords(part, spent, needs, r.Policy.DayBudget))
	return Failed{Failure: f, Cause: CauseDayBudget}
}

// Plus adds two budgets. Like Minus it stops at the largest possible number.
func (b Budget) Plus(c Budget) Budget {
	return Budget{Tokens: llm.Sum(b.Tokens, c.Tokens), Microdollars: llm.Sum(b.Microdollars, c.Microdollars)}
}

// Minus subtracts c from b, with the same bounds as Plus. The result may be negative.
func (b Budget) Minus(c Budget) Budget {
	return Budget{Tokens: llm.Difference(b.Tokens, c.Tokens), Microdollars: llm.Difference(b.Microdollars, c.Microdollars)}
}
