package config

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/recovery"
)

// Budget limits what one run, and all runs of a day together, may use; 0 = no limit.
type Budget struct {
	Tokens     int64   `yaml:"tokens"`      // of one run
	Dollars    float64 `yaml:"dollars"`     // of one run
	DayTokens  int64   `yaml:"day_tokens"`  // of all runs of a day
	DayDollars float64 `yaml:"day_dollars"` // of all runs of a day
}

// Price is in dollars per million tokens. Tokens read from a cache, or written to one, cost as
// much as other input unless they have a price of their own.
type Price struct {
	Input      float64 `yaml:"input"`       // of what is sent
	Output     float64 `yaml:"output"`      // of what is answered
	CacheRead  float64 `yaml:"cache_read"`  // of input that the provider has in its cache
	CacheWrite float64 `yaml:"cache_write"` // of input that it puts there
}

func (b Budget) problem() *yamlfile.Problem {
	const at = "$.budget."
	return cmp.Or(tokensProblem(at+"tokens", b.Tokens), dollarsProblem(at+"dollars", b.Dollars),
		tokensProblem(at+"day_tokens", b.DayTokens), dollarsProblem(at+"day_dollars", b.DayDollars))
}

func (p Price) problem(at string) *yamlfile.Problem {
	return cmp.Or(dollarsProblem(at+".input", p.Input), dollarsProblem(at+".output", p.Output),
		dollarsProblem(at+".cache_read", p.CacheRead), dollarsProblem(at+".cache_write", p.CacheWrite))
}

func tokensProblem(at string, tokens int64) *yamlfile.Problem {
	if tokens < 0 {
		return yamlfile.Problemf(at, "%d is negative; 0 means no limit", tokens)
	}
	return nil
}

func dollarsProblem(at string, dollars float64) *yamlfile.Problem {
	if err := checkDollars(dollars); err != nil {
		return yamlfile.Problemf(at, "%v", err)
	}
	return nil
}

func checkDollars(d float64) error {
	if d != d || d < 0 || d > 1e6 { // NaN differs from itself
		return fmt.Errorf("%v is not an amount of dollars between 0 and a million", d)
	}
	return nil
}

// SetTokens reads a number of tokens from a flag; at keeps its value on an error.
func SetTokens(at *int64, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of tokens: write for example 200000, or 0 for no limit", text)
	}
	*at = n
	return nil
}

// SetDollars reads an amount of dollars from a flag; at keeps its value on an error.
func SetDollars(at *float64, text string) error {
	d, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil {
		return fmt.Errorf("%q is not an amount of dollars: write for example 1.50, or 0 for no limit", text)
	}
	*at = d
	return checkDollars(d)
}

// OfRun is what one run may use.
func (b Budget) OfRun() recovery.Budget {
	return recovery.Budget{Tokens: b.Tokens, Microdollars: micros(b.Dollars)}
}

// OfDay is what all runs of a day may use together.
func (b Budget) OfDay() recovery.Budget {
	return recovery.Budget{Tokens: b.DayTokens, Microdollars: micros(b.DayDollars)}
}

// micros converts dollars to microdollars, rounding up: a small limit must not become 0, which
// means no limit.
func micros(dollars float64) int64 { return int64(math.Ceil(dollars*1e6 - 1e-6)) }

// prices are the configured prices, by the full names of models.
func (c *Config) prices() map[string]recovery.Price {
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

// CheckPrices refuses a budget of money for models whose price is unknown.
func (c *Config) CheckPrices() error {
	p := recovery.Policy{Budget: c.Budget.OfRun(), DayBudget: c.Budget.OfDay(), Models: c.Fallbacks, Prices: c.prices()}
	unpriced := p.Unpriced(c.Model)
	if len(unpriced) == 0 {
		return nil
	}
	entry, model, _ := strings.Cut(unpriced[0], "/")
	return fmt.Errorf("there is a budget of money, and no price of %s: what it costs cannot be counted. Say in mulligan.yaml what a million tokens cost, in dollars (0 where it is free):\n\n"+
		"providers:\n  %s:\n    models:\n      %s: {price: {input: 3, output: 15}}", strings.Join(unpriced, ", "), yamlKey(entry), yamlKey(model))
}

// yamlKey is a name as it is written before a colon.
func yamlKey(name string) string {
	if strings.ContainsAny(name, ":#{}[],&*!|>'\"%@` ") {
		return strconv.Quote(name)
	}
	return name
}
