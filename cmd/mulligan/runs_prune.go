package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

func newRunsPrune() *cobra.Command {
	var (
		f      common
		older  string
		dryRun bool
	)
	prune := func(cmd *cobra.Command, a *app, _ []string) error {
		if older == "" {
			return exit.Usagef("say how old: --older 30d")
		}
		age, err := timeline.ParseAge(older)
		if err != nil {
			return exit.Usagef("--older: %w", err)
		}
		return a.prune(cmd.Context(), time.Now().Add(-age), dryRun)
	}
	cmd := &cobra.Command{
		Use:   "prune --older AGE",
		Short: "Delete old runs, for good",
		Long: "Delete runs that have ended, or whose suggestion has expired, and that nothing has happened to for longer\n" +
			"than AGE: 30d, 12h. Runs of a session are deleted together, once all of them are that old. They are gone\n" +
			"down to the bytes in the store's files.",
		Example: `mulligan runs prune --older 30d --dry-run
mulligan runs prune --older 30d`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			open := f.open
			if dryRun {
				open = f.read
			}
			return withApp(open, prune)(cmd, args)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&older, "older", "", "the age: 30d, 12h (required)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be deleted")
	return cmd
}

// prune deletes runs that were over before a time.
func (a *app) prune(ctx context.Context, before time.Time, dryRun bool) error {
	list, err := a.everyRun(ctx)
	if err != nil {
		return err
	}
	old, stay := prunable(list, before, time.Now())
	if stay > 0 {
		a.Screen.Line(fmt.Sprintf("%s that old and not over, and stay: %s", show.Plural(stay, "run is", "runs are"), a.Screen.Hint("runs list")))
	}
	switch {
	case len(old) == 0:
		a.Screen.Line("There is nothing to delete in " + a.Place() + ".")
		return nil
	case dryRun:
		a.Screen.Runs(old, a.Place(), false, false, nil)
		a.Screen.Line(fmt.Sprintf("%s would be deleted.", show.Plural(len(old), "run", "runs")))
		return nil
	}
	return a.remove(ctx, old)
}

// prunable returns the runs of list that were over before a time, and counts those that
// are as old but not over. It keeps a session's runs that later ones need.
func prunable(list []timeline.Summary, before, now time.Time) (old []timeline.Summary, stay int) {
	needed := map[string]bool{} // sessions
	over := func(s timeline.Summary) bool {
		return s.Ended || s.SuggestionOpen && s.DueAt.Before(now)
	}
	for _, s := range list {
		switch {
		case !s.UpdatedAt.Before(before):
			needed[s.Session] = s.Session != ""
		case !over(s):
			stay++
			needed[s.Session] = s.Session != ""
		}
	}
	old = slices.DeleteFunc(slices.Clone(list), func(s timeline.Summary) bool {
		return !s.UpdatedAt.Before(before) || !over(s) || needed[s.Session]
	})
	return old, stay
}
