package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/tui"
)

func newTop() *cobra.Command {
	var (
		f      common
		query  timeline.Query
		filter timeline.Filter
	)
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch runs live in this terminal",
		Long: "Show the newest runs and how they are, looked at every second, whoever drives them. The arrow keys choose\n" +
			"one, and the line below says what to type about it; n leaves only those that need you, q leaves. Below are\n" +
			"the models that gateways of this state folder have called, those in trouble first: see `mulligan providers`.",
		Example: "mulligan top\nmulligan top --needs-you --cause overloaded\nmulligan top --label tenant=acme --since 12h",
		Args:    cobra.NoArgs,
		RunE: f.reading(func(cmd *cobra.Command, a *app, _ []string) error {
			if !a.Screen.LiveOut {
				return exit.Usagef("top needs a terminal: `%s` works without one", a.Screen.Hint("runs list"))
			}
			if query.Limit < 1 {
				return exit.Usagef("--limit %d: write how many, from 1 on", query.Limit)
			}
			if _, err := restrict(filter, new(query)); err != nil {
				return err
			}
			ctx, stop := untilEnded(cmd.Context())
			defer stop()
			counted := &counters{app: a, known: map[int]running{}}
			return tui.RunBoard(ctx, tui.BoardConfig{Every: time.Second, NoColor: !bool(a.Screen.Ink), Load: func(ctx context.Context, asking bool) (tui.Board, error) {
				q := query
				q.SuggestionOpen = q.SuggestionOpen || asking
				list, err := a.listed(ctx, filter, q)
				board := a.Screen.Board(list, a.Place())
				if err == nil {
					board.Below = counted.below(ctx)
				}
				return board, err
			}})
		}),
	}
	f.register(cmd)
	registerFilter(cmd, &filter, &query)
	cmd.Flags().BoolVar(&query.SuggestionOpen, "needs-you", false, "only runs whose suggestion is open")
	cmd.Flags().IntVar(&query.Limit, "limit", 200, "how many, the newest")
	return cmd
}
