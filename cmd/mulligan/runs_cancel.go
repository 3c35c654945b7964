package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// cancelPatience is how long a run may take to end, tools included.
const cancelPatience = 15 * time.Second

func newRunsCancel() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run, whoever drives it",
		Long: "End a run for good: one that waits, one that asks, and one that another process drives, which is told.\n" +
			"What was said is kept. A run that has ended stays as it is.",
		Example: "mulligan runs cancel r01j…",
		Args:    takes(1, 1),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.runOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.cancelRun(cmd.Context(), run)
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) cancelRun(ctx context.Context, id string) error {
	before, err := a.fold(ctx, id)
	if err != nil {
		return err
	}
	if before.End != nil {
		a.Screen.Line(fmt.Sprintf("Run %s has ended already: %s.", id, before.Status))
		return nil
	}
	status, err := a.end(ctx, id)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("run %s was told to end, and has not ended within %s; see: %s", id, words.Duration(cancelPatience), a.Screen.Hint("runs show "+id))
	case err != nil:
		return err
	case status != recovery.StatusCancelled:
		a.Screen.Line(fmt.Sprintf("Run %s ended before that: %s.", id, status))
		return nil
	}
	a.Screen.Line(fmt.Sprintf("Run %s is cancelled.", id))
	return nil
}

// end asks for the run's end and waits for it. An owner may die before it reads the
// request, so it is repeated.
func (a *app) end(ctx context.Context, id string) (recovery.Status, error) {
	const again = time.Second
	r := runner.New(runner.WithLog(a.Log), runner.WithLogger(a.Logger()))
	ctx, stop := context.WithTimeout(ctx, cancelPatience)
	defer stop()
	for {
		if err := r.Cancel(ctx, id); err != nil {
			return "", err
		}
		moment, cancel := context.WithTimeout(ctx, again)
		status, err := a.awaitEnd(moment, id)
		cancel()
		if status != "" || err != nil {
			return status, err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
}

// awaitEnd returns the status that the run ends with, "" if ctx ends first.
func (a *app) awaitEnd(ctx context.Context, id string) (recovery.Status, error) {
	for item, err := range a.Log.Follow(ctx, id, 0) {
		if err != nil {
			return "", err
		}
		if item.Event != nil {
			if end, ok := item.Event.Body.(recovery.Ended); ok {
				return end.Status, nil
			}
		}
	}
	return "", nil
}
