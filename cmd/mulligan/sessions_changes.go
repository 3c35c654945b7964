package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/timeline"
)

func newSessionsRename() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "rename SESSION TITLE",
		Short: "Give a conversation a title",
		Long: "Give a conversation a title: one line of at most 80 characters. An empty one takes it back, and the\n" +
			"conversation is called by what was said first in it. Its name, by which it is continued, stays.",
		Example: `mulligan sessions rename oslo "The weather in Oslo"
mulligan sessions rename oslo ""`,
		Args: takes(2, 2),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			return a.renameSession(cmd.Context(), args[0], args[1])
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) renameSession(ctx context.Context, session, title string) error {
	if err := timeline.CheckTitle(title); err != nil {
		return exit.Usage(err)
	}
	if _, err := a.runsIn(ctx, session, 1); err != nil {
		return err
	}
	kept, err := a.Log.Session(ctx, session)
	if err != nil {
		return err
	}
	kept.Title = title
	return a.Log.SetSession(ctx, kept)
}

func newSessionsDelete() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "delete SESSION",
		Short: "Delete a conversation for good",
		Long: "Delete a conversation whose runs have all ended, with its title and what its runs begin with, down to the\n" +
			"bytes in the store's files. What other programs, exports and backups keep of it is not touched.",
		Example: "mulligan sessions delete oslo",
		Args:    takes(1, 1),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			return a.deleteSession(cmd.Context(), args[0])
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) deleteSession(ctx context.Context, session string) error {
	runs, err := a.runsIn(ctx, session, math.MaxInt32)
	if err != nil {
		return err
	}
	for _, s := range runs {
		if !s.Ended && !a.isDamaged(ctx, s.Run) {
			return fmt.Errorf("its run %s has not ended; end it first: %s", s.Run, a.Screen.Hint("runs cancel "+s.Run))
		}
	}
	kept, err := a.Log.Session(ctx, session)
	if err != nil {
		return err
	}
	// First, so that it is wiped from the store's files together with the runs.
	if err := a.Log.SetSession(ctx, timeline.Session{ID: session}); err != nil {
		return err
	}
	err = a.remove(ctx, runs)
	if err == nil {
		return nil
	}
	if _, there := a.runsIn(ctx, session, 1); there == nil {
		if err := a.Log.SetSession(ctx, kept); err != nil {
			a.Screen.Line("The session has lost its title and its defaults: " + err.Error())
		}
	}
	return err
}

// runsIn lists a session's runs, newest first. A session without runs is an error.
func (a *app) runsIn(ctx context.Context, session string, limit int) ([]timeline.Summary, error) {
	list, err := a.Log.List(ctx, timeline.Query{Session: session, Limit: limit})
	if err == nil && len(list) == 0 {
		err = exit.Usagef("no session %q (looked in %s; `%s` lists them)", session, a.Place(), a.Screen.Hint("sessions list"))
	}
	return list, err
}
