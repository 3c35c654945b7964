package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	gatewayclient "github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/tui"
)

// counters asks the gateways of a state folder, again and again, what they have counted of the
// providers' calls.
type counters struct {
	app   *app
	known map[int]running // by process
}

// patienceForCounts is how long a look at the runs waits for what a gateway has counted.
const patienceForCounts = 500 * time.Millisecond

// below is what they have counted as a table below that of the runs; no gateway, no table.
func (c *counters) below(ctx context.Context) tui.BoardBelow {
	all, err := c.app.gateways()
	if err != nil {
		return tui.BoardBelow{}
	}
	ctx, cancel := context.WithTimeout(ctx, patienceForCounts)
	defer cancel()
	b := tui.BoardBelow{Head: append(slices.Clone(modelHead), ""), Hint: c.app.Screen.Hint("providers")}
	var rows []countedRow
	for _, one := range all {
		if k, ok := c.known[one.PID]; ok && k.Address == one.Address && k.Since.Equal(one.Since) {
			one = k // with its connection
		}
		c.known[one.PID] = one
		of, err := one.Providers(ctx)
		if err != nil {
			rows = append(rows, countedRow{trouble: true, BelowRow: tui.BelowRow{
				Cells: []string{fmt.Sprintf("process %d", one.PID), dash, dash, dash, dash, ""}, Note: "It does not say what it has counted.", Mood: tui.MoodBad,
			}})
			continue
		}
		b.Title = "Providers  spent today: " + today(of)
		rows = append(rows, countedRows(of)...)
	}
	slices.SortStableFunc(rows, moreToSee)
	for _, r := range rows {
		b.Rows = append(b.Rows, r.BelowRow)
	}
	b.Title = cmp.Or(b.Title, "Providers")
	return b
}

// countedRow is a row with what it is ordered by.
type countedRow struct {
	tui.BelowRow
	trouble bool
	calls   int64
}

// moreToSee puts models in trouble first, and then those that are called most.
func moreToSee(a, b countedRow) int {
	if a.trouble != b.trouble {
		if a.trouble {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.calls, a.calls)
}

// countedRows are the models of a gateway that have something to tell.
func countedRows(of gatewayclient.Providers) []countedRow {
	var rows []countedRow
	for _, p := range of.Providers {
		for _, m := range p.Models {
			if m.Calls == 0 && m.InAir == 0 && m.Cooling == nil && p.Cooling == nil && p.Queued == 0 {
				continue
			}
			note, mood := standing(p, m), tui.MoodPlain
			switch {
			case p.Cooling != nil, m.Cooling != nil, p.Queued > 0:
				mood = tui.MoodAsks
			case m.Failed > 0:
				mood = tui.MoodBad
			}
			rows = append(rows, countedRow{
				BelowRow: tui.BelowRow{Cells: append(modelCells(m), ""), Note: note, Mood: mood},
				trouble:  mood == tui.MoodAsks, calls: m.Calls,
			})
			p.Queued = 0 // it is told once
		}
	}
	return rows
}
