package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

func newRunsDelete() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "delete RUN…",
		Short: "Delete runs that have ended, for good",
		Long: "Delete runs that have ended, or are damaged, down to the bytes in the store's files. What other programs,\n" +
			"exports and backups keep of them is not touched. A run that another one of its session continues is\n" +
			"deleted only together with that.",
		Example: "mulligan runs delete r01j…",
		Args:    takes(1, anyNumber),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			return a.deleteRuns(cmd.Context(), args)
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) deleteRuns(ctx context.Context, runs []string) error {
	runs, err := a.runsOf(ctx, runs)
	if err != nil {
		return err
	}
	list, err := a.everyRun(ctx)
	if err != nil {
		return err
	}
	var old []timeline.Summary
	for _, run := range runs {
		i := slices.IndexFunc(list, func(s timeline.Summary) bool { return s.Run == run })
		if i < 0 {
			return a.notFound(&timeline.NotFoundError{Run: run})
		}
		if !list[i].Ended && !a.isDamaged(ctx, run) {
			return fmt.Errorf("run %s has not ended; end it first: %s", run, a.Screen.Hint("runs cancel "+run))
		}
		for _, newer := range list[:i] {
			if s := list[i].Session; s != "" && newer.Session == s && !slices.Contains(runs, newer.Run) {
				return fmt.Errorf("run %s goes on with what run %s said; delete both, or neither", newer.Run, run)
			}
		}
		old = append(old, list[i])
	}
	return a.remove(ctx, old)
}

// isDamaged reports whether a run cannot be read, so that nobody can end it.
func (a *app) isDamaged(ctx context.Context, run string) bool {
	_, err := a.Log.Read(ctx, run, 0, 0)
	_, store := errors.AsType[*timeline.StoreError](err)
	return errors.Is(err, timeline.ErrDamaged) && !store
}

// remove deletes runs, and what engines store of their conversations, and prints how much
// space became free.
func (a *app) remove(ctx context.Context, old []timeline.Summary) error {
	models, err := server.NewModels(a.Config)
	if err != nil {
		return exit.Usage(err)
	}
	defer models.Close()
	var runs, conversations []string
	for _, s := range old {
		runs, conversations = append(runs, s.Run), append(conversations, cmp.Or(s.Session, s.Run))
	}
	before := folderSize(a.Dir)
	if err := a.Log.Delete(ctx, runs...); err != nil {
		return a.notFound(err)
	}
	if err := models.Set.Forget(conversations...); err != nil {
		return err
	}
	freed := "The database frees their space as it is vacuumed."
	if a.Config.Store == "" {
		freed = byteSize(max(0, before-folderSize(a.Dir))) + " became free."
	}
	a.Screen.Line("Deleted " + show.Plural(len(runs), "run", "runs") + ". " + freed)
	return nil
}

// folderSize is the total size of the files under dir, in bytes, as far as they can be
// read.
func folderSize(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// byteSize is a number of bytes in words: "3.4 MB".
func byteSize(n int64) string {
	const thousand = 1000
	if n < thousand {
		return fmt.Sprintf("%d bytes", n)
	}
	size := float64(n)
	for _, unit := range []string{"kB", "MB", "GB"} {
		if size /= thousand; size < thousand {
			return fmt.Sprintf("%.1f %s", size, unit)
		}
	}
	return fmt.Sprintf("%.1f TB", size/thousand)
}
