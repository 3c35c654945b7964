package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

func newSessions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List and read conversations",
		Example: `mulligan run --session oslo "Hello"  # begin one, or continue it
mulligan sessions list
mulligan sessions show oslo`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionsList(), newSessionsShow())
	return cmd
}

func newSessionsList() *cobra.Command {
	var (
		f      common
		limit  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List conversations, the most recently continued first",
		Example: "mulligan sessions list",
		Args:    cobra.NoArgs,
		RunE: f.reading(func(cmd *cobra.Command, a *app, _ []string) error {
			list, err := a.log.Sessions(cmd.Context(), limit)
			if err != nil {
				return err
			}
			return a.listSessions(list, asJSON)
		}),
	}
	f.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", timeline.DefaultLimit, "how many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

func (a *app) listSessions(list []timeline.SessionSummary, asJSON bool) error {
	if asJSON {
		encoder := jsonTo(a.screen.out)
		for _, s := range list {
			if err := encoder.Encode(map[string]any{"session": s.ID, "runs": s.Runs, "last": summaryLine(s.Last)}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.screen.line("No sessions in " + a.dir + ". Begin one: " + a.hint(`run --session NAME "Hello"`))
		return nil
	}
	rows := [][]string{{"SESSION", "RUNS", "CONTINUED", "STATUS", "MODEL", "LAST PROMPT"}}
	for _, s := range list {
		rows = append(rows, []string{s.ID, itoa(s.Runs), stamp(s.Last.StartedAt), statusWord(s.Last), oneLine(s.Last.Model), oneLine(s.Last.Title)})
	}
	a.screen.table(rows)
	return nil
}

func newSessionsShow() *cobra.Command {
	var (
		f      common
		limit  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "show SESSION",
		Short:   "Show what was said in a conversation",
		Example: "mulligan sessions show oslo",
		Args:    cobra.ExactArgs(1),
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			list, err := a.log.List(cmd.Context(), timeline.Query{Session: args[0], Limit: limit})
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return usagef("no session %q (looked in %s; `%s` lists them)", args[0], a.dir, a.hint("sessions list"))
			}
			slices.Reverse(list)
			for _, s := range list {
				run, err := a.fold(cmd.Context(), s.Run)
				if err != nil {
					return err
				}
				if err := a.showTurn(turnOf(run), asJSON); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	f.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", timeline.DefaultLimit, "how many runs, the newest ones")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

// turn is a run as a part of its conversation.
type turn struct {
	Run       string          `json:"run"`
	StartedAt time.Time       `json:"startedAt"`
	Status    recovery.Status `json:"status"`
	Model     string          `json:"model"`
	Prompt    string          `json:"prompt"`
	Answer    string          `json:"answer,omitempty"`
	Truncated bool            `json:"truncated,omitempty"` // the answer was cut at the output limit
	Error     string          `json:"error,omitempty"`
	Open      bool            `json:"suggestionOpen,omitempty"`
}

func turnOf(r *recovery.Run) turn {
	t := turn{Run: r.ID, StartedAt: r.StartedAt, Status: r.Status, Model: r.Model, Answer: r.Answer(), Truncated: r.Truncated(), Open: r.OpenSuggestion(time.Now()) != nil}
	for _, m := range r.Messages {
		if m.Role == llm.RoleUser {
			t.Prompt = m.Text()
			break
		}
	}
	if r.Open != nil && r.Status == recovery.StatusFailed {
		t.Error = r.Open.Failure.LocalLine(time.Now())
	}
	return t
}

func (a *app) showTurn(t turn, asJSON bool) error {
	if asJSON {
		encoder := jsonTo(a.screen.out)
		return encoder.Encode(t)
	}
	status := string(t.Status)
	if t.Open {
		status = recoverable
	}
	ink, out := a.screen.ink, a.screen.out
	fmt.Fprintln(out, ink.dim(fmt.Sprintf("%s  %s  %s  %s", stamp(t.StartedAt), t.Run, status, oneLine(t.Model))))
	fmt.Fprintln(out, indent(ink.bold(printable(t.Prompt, true)), "> "))
	if t.Answer != "" {
		fmt.Fprintln(out, printable(t.Answer, true))
	}
	if t.Truncated {
		fmt.Fprintln(out, ink.amber("! "+cutText))
	}
	if t.Error != "" {
		fmt.Fprintln(out, ink.red("✗ "+oneLine(t.Error)))
	}
	_, err := fmt.Fprintln(out)
	return err
}
