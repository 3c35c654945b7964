package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// exportHeader is the first line of an export; each further line is an event.
type exportHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// exportVersion is the version of the format.
const exportVersion = 1

func newRunsExport() *cobra.Command {
	var (
		f   common
		all bool
	)
	cmd := &cobra.Command{
		Use:   "export {RUN… | --all}",
		Short: "Write runs as JSON lines, for `runs import`",
		Long: "Write everything that is stored of runs to standard output: a header, and then one event per line, run\n" +
			"after run, the oldest first. It holds prompts, answers and what tools returned.",
		Example: `mulligan runs export --all > runs.jsonl
mulligan runs export r01j… | gzip > run.jsonl.gz`,
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			if all == (len(args) > 0) {
				return exit.Usagef("say either which runs, or --all; `%s` shows them", a.Screen.Hint("runs list"))
			}
			runs, err := a.runsOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.export(cmd.Context(), runs)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "every run")
	return cmd
}

// export writes runs, or all of them if none are named.
func (a *app) export(ctx context.Context, runs []string) error {
	if len(runs) == 0 {
		list, err := a.everyRun(ctx)
		if err != nil {
			return err
		}
		for _, s := range slices.Backward(list) { // a run of a session must come after the one that it continues
			runs = append(runs, s.Run)
		}
	}
	out := bufio.NewWriter(a.Screen.Out)
	lines := show.JSONOn(out, a.Screen.LiveOut)
	if err := show.JSON(lines).Encode(exportHeader{devtools.ExportFormat, exportVersion}); err != nil {
		return err
	}
	for _, run := range runs {
		if err := a.exportRun(ctx, lines, run); err != nil {
			return errors.Join(a.notFound(err), out.Flush())
		}
	}
	return out.Flush()
}

// exportRun writes one run piece by piece.
func (a *app) exportRun(ctx context.Context, w io.Writer, run string) error {
	const piece = 256
	for after := uint64(0); ; {
		events, err := a.Log.Read(ctx, run, after, piece)
		if err != nil {
			return err
		}
		if err := writeEvents(w, events); err != nil {
			return err
		}
		if len(events) < piece {
			return nil
		}
		after = events[len(events)-1].Seq
	}
}

// everyRun lists all runs, the newest first.
func (a *app) everyRun(ctx context.Context) ([]timeline.Summary, error) {
	return a.Log.List(ctx, timeline.Query{Limit: math.MaxInt32})
}
