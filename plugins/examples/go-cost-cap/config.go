package main

import (
	_ "embed" // the schema
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/mulligan-run/mulligan/recovery"
)

//go:embed schema.json
var schema string

// config is the plugin's part of mulligan.yaml. An event says how much of a budget is
// left, but not how large it was, so the budget is repeated here.
type config struct {
	Dollars   float64            `json:"dollars"`
	Tokens    int64              `json:"tokens"`
	DearUntil float64            `json:"dear_until"`
	Prices    map[string]float64 `json:"prices"`
}

// configure reads a configuration that the schema allows; without one there is nothing
// to count with.
func (c *costCap) configure(raw json.RawMessage) error {
	if len(raw) == 0 {
		return errors.New("prices are needed, and dollars or tokens")
	}
	read := config{DearUntil: 0.5}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	c.config.Store(&read)
	return nil
}

// price is infinite for a model without a price.
func (c *config) price(model string) float64 {
	if price, ok := c.Prices[model]; ok {
		return price
	}
	return math.Inf(1)
}

// spent returns the fraction of the budget that is spent, and a text for it. Of money
// and tokens, the larger fraction counts; 0 for a run without a limit.
func (c *config) spent(left recovery.Budget) (float64, string) {
	total := int64(c.Dollars * 1e6)
	money, tokens := share(total, left.Microdollars), share(c.Tokens, left.Tokens)
	if money > 0 && money >= tokens {
		return money, fmt.Sprintf("$%.2f of $%.2f spent", money*c.Dollars, c.Dollars)
	}
	return tokens, fmt.Sprintf("%.0f of %d tokens spent", tokens*float64(c.Tokens), c.Tokens)
}

// share is from 0 to 1; a person may have extended the budget beyond the total.
func share(total, left int64) float64 {
	if total == 0 || left == 0 {
		return 0
	}
	return 1 - float64(min(max(left, 0), total))/float64(total)
}
