package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// budgetConfig is what a run may use, and all runs of a day together; 0 is without a limit.
type budgetConfig struct {
	Tokens     int64   `yaml:"tokens"`
	Dollars    float64 `yaml:"dollars"`
	DayTokens  int64   `yaml:"day_tokens"`
	DayDollars float64 `yaml:"day_dollars"`
}

// priceEntry is dollars per million tokens. What is read from a cache, or written to one,
// costs as much as other input unless it has a price of its own.
type priceEntry struct {
	Input      float64 `yaml:"input"`
	Output     float64 `yaml:"output"`
	CacheRead  float64 `yaml:"cache_read"`
	CacheWrite float64 `yaml:"cache_write"`
}

func (b budgetConfig) problem() *problem {
	const at = "$.budget."
	return cmp.Or(tokensProblem(at+"tokens", b.Tokens), dollarsProblem(at+"dollars", b.Dollars),
		tokensProblem(at+"day_tokens", b.DayTokens), dollarsProblem(at+"day_dollars", b.DayDollars))
}

func (p priceEntry) problem(at string) *problem {
	return cmp.Or(dollarsProblem(at+".input", p.Input), dollarsProblem(at+".output", p.Output),
		dollarsProblem(at+".cache_read", p.CacheRead), dollarsProblem(at+".cache_write", p.CacheWrite))
}

func tokensProblem(at string, tokens int64) *problem {
	if tokens < 0 {
		return problemf(at, "%d is negative; 0 is without a limit", tokens)
	}
	return nil
}

func dollarsProblem(at string, dollars float64) *problem {
	if err := checkDollars(dollars); err != nil {
		return problemf(at, "%v", err)
	}
	return nil
}

func checkDollars(d float64) error {
	if d != d || d < 0 || d > 1e6 { // NaN is unlike itself
		return fmt.Errorf("%v is not an amount of dollars between 0 and a million", d)
	}
	return nil
}

func setTokens(at *int64, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of tokens: write for example 200000, or 0 for no limit", text)
	}
	*at = n
	return nil
}

func setDollars(at *float64, text string) error {
	d, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil {
		return fmt.Errorf("%q is not an amount of dollars: write for example 1.50, or 0 for no limit", text)
	}
	*at = d
	return checkDollars(d)
}

func (b budgetConfig) ofRun() recovery.Budget {
	return recovery.Budget{Tokens: b.Tokens, Microdollars: micros(b.Dollars)}
}

func (b budgetConfig) ofDay() recovery.Budget {
	return recovery.Budget{Tokens: b.DayTokens, Microdollars: micros(b.DayDollars)}
}

// micros is dollars in microdollars; what is something does not become nothing, which
// would be no limit at all.
func micros(dollars float64) int64 { return int64(math.Ceil(dollars*1e6 - 1e-6)) }

// prices are those of the config, by the full names of models.
func (c *config) prices() map[string]recovery.Price {
	var prices map[string]recovery.Price
	for entry, e := range c.Providers {
		for name, m := range e.Models {
			if m.Price == nil {
				continue
			}
			if prices == nil {
				prices = map[string]recovery.Price{}
			}
			prices[entry+"/"+name] = recovery.Price{
				Input: micros(m.Price.Input), Output: micros(m.Price.Output),
				CacheRead: micros(m.Price.CacheRead), CacheWrite: micros(m.Price.CacheWrite),
			}
		}
	}
	return prices
}

// checkPrices refuses a budget of money where it could not be counted.
func (c *config) checkPrices() error {
	p := recovery.Policy{Budget: c.Budget.ofRun(), DayBudget: c.Budget.ofDay(), Models: c.Fallbacks, Prices: c.prices()}
	unpriced := p.Unpriced(c.Model)
	if len(unpriced) == 0 {
		return nil
	}
	entry, model, _ := strings.Cut(unpriced[0], "/")
	return fmt.Errorf("there is a budget of money, and no price of %s: what it costs cannot be counted. Say in mulligan.yaml what a million tokens cost, in dollars (0 where it is free):\n\n"+
		"providers:\n  %s:\n    models:\n      %s: {price: {input: 3, output: 15}}", strings.Join(unpriced, ", "), yamlKey(entry), yamlKey(model))
}

// yamlKey is a name as it can be written before a colon.
func yamlKey(name string) string {
	if strings.ContainsAny(name, ":#{}[],&*!|>'\"%@` ") {
		return strconv.Quote(name)
	}
	return name
}

// budget says what may be used, and what today's runs have.
func (d *doctor) budget() {
	b := d.config.Budget
	if b == (budgetConfig{}) {
		return
	}
	if err := d.config.checkPrices(); err != nil {
		problem, help, _ := strings.Cut(err.Error(), "\n\n")
		d.bad(strings.ReplaceAll(help, "\n", "\n    "), "budget: %s", problem)
		return
	}
	if limit := amount(b.ofRun()); limit != "" {
		d.good("budget of a run: %s", limit)
	}
	limit := amount(b.ofDay())
	if limit == "" {
		return
	}
	known, err := d.healthFile()
	if err != nil {
		return // the state's own finding says why
	}
	d.good("budget of a day: %s; spent today: %s", limit, orElse(amount(known.Spent(time.Now())), "nothing"))
}

// usageLine says what a run has used, and what of it was in vain.
func usageLine(r *recovery.Run) string {
	said := "Used " + tokenCount(r.Usage.Total())
	if r.Spent.Microdollars > 0 {
		said += " (" + words.SpellDollars(r.Spent.Microdollars) + ")"
	}
	if wasted := r.Wasted.Total(); wasted > 0 {
		said += fmt.Sprintf(" · wasted %s by %s", words.SpellCount(wasted), plural(r.FailedAttempts, "failed attempt", "failed attempts"))
	}
	if saved := r.Saved.Total(); saved > 0 {
		said += fmt.Sprintf(" · saved %s that were not asked again", words.SpellCount(saved))
	}
	return said
}

// amount is a budget in words: "200,000 tokens, $5.00"; "" for nothing.
func amount(b recovery.Budget) string {
	var parts []string
	if b.Tokens > 0 {
		parts = append(parts, tokenCount(b.Tokens))
	}
	if b.Microdollars > 0 {
		parts = append(parts, words.SpellDollars(b.Microdollars))
	}
	return strings.Join(parts, ", ")
}

func tokenCount(n int64) string {
	if n == 1 {
		return "1 token"
	}
	return words.SpellCount(n) + " tokens"
}
