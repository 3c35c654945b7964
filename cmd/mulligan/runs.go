package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

func newRuns() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, read and resume runs",
		Example: `mulligan runs list
mulligan runs show r01j…    # what happened, as a story
mulligan runs events r01j…  # as JSON lines
mulligan runs resume r01j…  # go on after the process died`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunsList(), newRunsShow(), newRunsEvents(), newRunsResume())
	return cmd
}

func newRunsList() *cobra.Command {
	var (
		f      common
		query  timeline.Query
		status string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List runs, newest first",
		Example: "mulligan runs list --status failed",
		Args:    cobra.NoArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, _ []string) error {
			query.Status = recovery.Status(status)
			list, err := a.log.List(cmd.Context(), query)
			if err != nil {
				return a.notFound(err)
			}
			return a.list(list, asJSON)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&status, "status", "", "only running, waiting, completed, failed or cancelled ones")
	cmd.Flags().IntVar(&query.Limit, "limit", timeline.DefaultLimit, "how many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

func (a *app) list(list []timeline.Summary, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(a.screen.out)
		for _, s := range list {
			if err := encoder.Encode(summaryLine(s)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.screen.line("No runs in " + a.dir + ". Make one: " + a.hint("demo"))
		return nil
	}
	w := tabwriter.NewWriter(a.screen.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTARTED\tSTATUS\tMODEL\tPROMPT")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Run, s.StartedAt.Local().Format(time.DateTime),
			statusWord(s), oneLine(s.Model), oneLine(s.Title))
	}
	return w.Flush()
}

func statusWord(s timeline.Summary) string {
	if s.SuggestionOpen {
		return "failed (can be recovered)"
	}
	return string(s.Status)
}

func summaryLine(s timeline.Summary) map[string]any {
	return map[string]any{
		"run": s.Run, "startedAt": s.StartedAt, "updatedAt": s.UpdatedAt, "status": s.Status,
		"model": s.Model, "title": s.Title, "suggestionOpen": s.SuggestionOpen, "seq": s.Seq,
	}
}

func newRunsShow() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "show RUN",
		Short:   "Tell what happened to a run",
		Example: "mulligan runs show r01j…",
		Args:    cobra.ExactArgs(1),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			events, err := a.log.Read(cmd.Context(), args[0], 0, 0)
			if err != nil {
				return a.notFound(err)
			}
			return a.tell(events)
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
		Args:    cobra.ExactArgs(1),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			events, err := a.log.Read(cmd.Context(), args[0], after, 0)
			if err != nil {
				return a.notFound(err)
			}
			return writeEvents(a.screen.out, events)
		}),
	}
	f.register(cmd)
	cmd.Flags().Uint64Var(&after, "after", 0, "only events after this sequence number")
	return cmd
}

func writeEvents(w io.Writer, events []recovery.Event) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, e := range events {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

func newRunsResume() *cobra.Command {
	var (
		f       common
		plugins []string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that nobody drives any more",
		Long: "Go on with a run whose process died or that waits for a time. What was finished is kept and not done\n" +
			"again. A run that has ended is only shown.",
		Example: "mulligan runs resume r01j…",
		Args:    cobra.ExactArgs(1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			return goOn(cmd, &f, args[0], plugins, asJSON, func(ctx context.Context, r *runner.Runner) (*runner.Run, error) {
				return r.Resume(ctx, args[0])
			})
		}),
	}
	f.register(cmd)
	registerGoOn(cmd, &plugins, &asJSON)
	return cmd
}

// indent puts text under its line.
func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}
