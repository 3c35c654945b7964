package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

func newRuns() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, read, resume, cancel, export and delete runs",
		Example: `mulligan runs list
mulligan runs list --waiting
mulligan runs show r01j…    # what happened, as a story
mulligan runs events r01j…  # as JSON lines
mulligan runs resume r01j…  # continue after the process died
mulligan runs cancel r01j…  # end it`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunsList(), newRunsShow(), newRunsEvents(), newRunsResume(), newRunsCancel(),
		newRunsExport(), newRunsImport(), newRunsPrune(), newRunsDelete())
	return cmd
}

func newRunsList() *cobra.Command {
	var (
		f      common
		query  timeline.Query
		filter timeline.Filter
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Example: `mulligan runs list --status failed
mulligan runs list --needs-you --cause overloaded --since 12h
mulligan runs list --text 'quarterly report' --model anthropic/claude-sonnet-4-5
mulligan runs list --waiting  # until when, and what for; what comes first, first`,
		Args: cobra.NoArgs,
		RunE: f.reading(func(cmd *cobra.Command, a *app, _ []string) error {
			if query.Limit < 1 {
				return exit.Usagef("--limit %d: write how many, from 1 on", query.Limit)
			}
			list, err := a.listed(cmd.Context(), filter, query)
			if err != nil {
				return err
			}
			var stranded map[string]bool
			if slices.ContainsFunc(list, func(s timeline.Summary) bool { return s.Needs != "" }) {
				if stranded, err = a.Stranded(cmd.Context()); err != nil {
					return err
				}
			}
			if asJSON {
				return a.Screen.RunLines(list, stranded)
			}
			a.Screen.Runs(list, a.Place(), query.Waiting, narrowed(cmd.Flags()), stranded)
			return nil
		}),
	}
	f.register(cmd)
	registerFilter(cmd, &filter, &query)
	cmd.Flags().BoolVar(&query.Waiting, "waiting", false, "only waiting runs, the one whose wait ends soonest first")
	cmd.Flags().BoolVar(&query.SuggestionOpen, "needs-you", false, "only runs whose suggestion is open")
	cmd.Flags().StringVar(&filter.Order, "order", "newest", "newest or oldest first")
	cmd.Flags().IntVar(&query.Limit, "limit", timeline.DefaultLimit, "how many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

// registerFilter registers the flags that choose runs.
func registerFilter(cmd *cobra.Command, f *timeline.Filter, q *timeline.Query) {
	flags := cmd.Flags()
	flags.StringVar(&f.Status, "status", "", "only running, waiting, completed, recoverable, failed or cancelled ones")
	flags.StringArrayVar(&f.Labels, "label", nil, "only runs with this label, as name=value (repeatable)")
	flags.StringVar(&f.Kind, "cause", "", "only runs whose last failure was of this kind: overloaded, rate_limit, timeout, …")
	flags.StringVar(&q.Model, "model", "", "only runs that asked this model last")
	flags.StringVar(&q.DecidedBy, "decided-by", "", "only runs in which this plugin decided last; person: somebody answered")
	flags.StringVar(&q.Session, "session", "", "only runs of this conversation")
	flags.StringVar(&q.Text, "text", "", "only runs with this in their prompt's beginning, or in what failed")
	flags.StringVar(&f.Since, "since", "", "only runs since then: 12h, 7d, 2026-01-31")
	flags.StringVar(&f.Until, "until", "", "only runs before then")
}

// narrowed reports whether a flag restricts which runs are meant.
func narrowed(flags *pflag.FlagSet) (yes bool) {
	flags.Visit(func(f *pflag.Flag) {
		yes = yes || slices.Contains([]string{"status", "label", "cause", "model", "decided-by", "session", "text", "since", "until", "needs-you"}, f.Name)
	})
	return yes
}

// restrict adds the flags' restrictions to q. A run that lists call recoverable is one that has
// failed and asks.
func restrict(f timeline.Filter, q *timeline.Query) (some bool, err error) {
	if f.Status == show.Recoverable {
		f.Status, q.SuggestionOpen = string(recovery.StatusFailed), true
	}
	some, err = f.Restrict(q, time.Now())
	if wrong, ok := errors.AsType[*timeline.FilterError](err); ok {
		err = exit.Usagef("--%s: %w", strings.Replace(wrong.Field, "kind", "cause", 1), wrong.Err)
	}
	return some, err
}

// listed lists the chosen runs.
func (a *app) listed(ctx context.Context, f timeline.Filter, q timeline.Query) ([]timeline.Summary, error) {
	some, err := restrict(f, &q)
	if err != nil || !some {
		return nil, err
	}
	list, err := a.Log.List(ctx, q)
	return list, a.notFound(err)
}

func newRunsShow() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "show RUN",
		Short:   "Show what happened in a run",
		Example: "mulligan runs show r01j…",
		Args:    takes(1, 1),
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.runOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			events, err := a.Log.Read(cmd.Context(), run, 0, 0)
			if err != nil {
				return a.notFound(err)
			}
			return a.Screen.Tell(events)
		}),
	}
	f.register(cmd)
	return cmd
}

func newRunsEvents() *cobra.Command {
	var (
		f     common
		after uint64
	)
	cmd := &cobra.Command{
		Use:     "events RUN",
		Short:   "Print a run's events as JSON lines",
		Example: "mulligan runs events r01j… | jq -r 'select(.text) | .text'",
		Args:    takes(1, 1),
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.runOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			events, err := a.Log.Read(cmd.Context(), run, after, 0)
			if err != nil {
				return a.notFound(err)
			}
			return writeEvents(a.Screen.Out, events)
		}),
	}
	f.register(cmd)
	cmd.Flags().Uint64Var(&after, "after", 0, "only events after this sequence number")
	return cmd
}

func writeEvents(w io.Writer, events []recovery.Event) error {
	encoder := show.JSON(w)
	for _, e := range events {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
