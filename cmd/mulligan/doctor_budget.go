package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/show"
)

// budget says what may be used, and what today's runs have used.
func (d *doctor) budget(ctx context.Context) {
	b := d.Config.Budget
	if b == (config.Budget{}) {
		return
	}
	if err := d.Config.CheckPrices(); err != nil {
		problem, help, _ := strings.Cut(err.Error(), "\n\n")
		d.bad(strings.ReplaceAll(help, "\n", "\n    "), "budget: %s", problem)
		return
	}
	if limit := show.Amount(b.OfRun()); limit != "" {
		d.good("budget of a run: %s", limit)
	}
	limit := show.Amount(b.OfDay())
	if limit == "" {
		return
	}
	known, err := d.Health(ctx)
	if err != nil {
		return // the state's own finding says why
	}
	d.good("budget of a day: %s; spent today: %s", limit, cmp.Or(show.Amount(known.Spent(known.Now())), "nothing"))
}
