package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
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
		status string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Example: `mulligan runs list --status failed
mulligan runs list --waiting  # until when, and what for; what comes first, first`,
		Args: cobra.NoArgs,
		RunE: f.reading(func(cmd *cobra.Command, a *app, _ []string) error {
			query.Status = recovery.Status(status)
			if status != "" && !slices.Contains(statuses, query.Status) {
				return usagef("--status %s: a run is running, waiting, completed, failed or cancelled", oneLine(status))
			}
			if query.Limit < 1 {
				return usagef("--limit %d: write how many, from 1 on", query.Limit)
			}
			list, err := a.log.List(cmd.Context(), query)
			if err != nil {
				return a.notFound(err)
			}
			return a.list(list, query.Waiting, asJSON)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&status, "status", "", "only running, waiting, completed, failed or cancelled ones")
	cmd.Flags().BoolVar(&query.Waiting, "waiting", false, "only waiting runs, the one whose wait ends soonest first")
	cmd.Flags().IntVar(&query.Limit, "limit", timeline.DefaultLimit, "how many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

func (a *app) list(list []timeline.Summary, waiting, asJSON bool) error {
	if asJSON {
		encoder := jsonTo(a.screen.out)
		for _, s := range list {
			if err := encoder.Encode(summaryLine(s)); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(list) == 0 && waiting:
		a.screen.line("No run in " + a.dir + " waits.")
		return nil
	case len(list) == 0:
		a.screen.line("No runs in " + a.dir + ". Make one: " + a.hint("demo"))
		return nil
	}
	column, what := "STATUS", statusWord
	if waiting {
		column, what = "UNTIL", untilWord
	}
	rows := [][]string{{"RUN", "STARTED", column, "MODEL", "PROMPT"}}
	short := beginnings(list)
	for i, s := range list {
		run := s.Run
		if a.screen.liveOut { // a person can type the beginning
			run = short[i]
		}
		rows = append(rows, []string{run, stamp(s.StartedAt), what(s), oneLine(s.Model), oneLine(s.Title)})
	}
	a.screen.table(rows)
	return nil
}

// statuses are those that a run may have.
var statuses = []recovery.Status{
	recovery.StatusRunning, recovery.StatusWaiting, recovery.StatusCompleted, recovery.StatusFailed, recovery.StatusCancelled,
}

func statusWord(s timeline.Summary) string {
	if s.Asks(time.Now()) {
		return recoverable
	}
	return string(s.Status)
}

// recoverable is the status of a run that failed, and can be recovered.
const recoverable = "recoverable"

// untilWord says until when a run waits, and what for: "15:04 (reset)".
func untilWord(s timeline.Summary) string {
	what := " (" + oneLine(orElse(string(s.WaitingFor), string(recovery.WaitTime))) + ")"
	switch {
	case s.WaitingUntil.IsZero():
		return "?" + what
	case s.WaitingUntil.Before(time.Now()):
		return "now" + what
	}
	return words.Clock(s.WaitingUntil, time.Now()) + what
}

func summaryLine(s timeline.Summary) map[string]any {
	line := map[string]any{
		"run": s.Run, "startedAt": s.StartedAt, "updatedAt": s.UpdatedAt, "status": s.Status,
		"model": s.Model, "title": s.Title, "suggestionOpen": s.Asks(time.Now()), "seq": s.Seq,
	}
	if s.Status == recovery.StatusWaiting {
		line["waitingFor"] = s.WaitingFor
		if !s.WaitingUntil.IsZero() {
			line["waitingUntil"] = s.WaitingUntil
		}
	}
	return line
}

func newRunsShow() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "show RUN",
		Short:   "Show what happened in a run",
		Example: "mulligan runs show r01j…",
		Args:    cobra.ExactArgs(1),
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.runOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			events, err := a.log.Read(cmd.Context(), run, 0, 0)
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
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			run, err := a.runOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			events, err := a.log.Read(cmd.Context(), run, after, 0)
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
	encoder := jsonTo(w)
	for _, e := range events {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// indent puts text under its line.
func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}
