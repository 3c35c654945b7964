package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

func newSessions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, read, rename and delete conversations",
		Example: `mulligan run --session oslo "Hello"  # begin one, or continue it
mulligan sessions list
mulligan sessions show oslo
mulligan sessions rename oslo "The weather in Oslo"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionsList(), newSessionsShow(), newSessionsRename(), newSessionsDelete())
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
			list, err := a.Log.Sessions(cmd.Context(), limit)
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
		encoder := show.JSON(a.Screen.Out)
		for _, s := range list {
			if err := encoder.Encode(map[string]any{"session": s.ID, "title": s.Title, "runs": s.Runs, "last": show.RunLine(s.Last)}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.Screen.Line("No sessions in " + a.Place() + ". Begin one: " + a.Screen.Hint(`run --session NAME "Hello"`))
		return nil
	}
	rows := [][]string{{"SESSION", "RUNS", "CONTINUED", "STATUS", "MODEL", "TITLE"}}
	for _, s := range list {
		rows = append(rows, []string{terminal.OneLine(s.ID), strconv.Itoa(s.Runs), show.Stamp(s.Last.StartedAt), show.StatusWord(s.Last), terminal.OneLine(s.Last.Model), terminal.OneLine(s.Title)})
	}
	a.Screen.Table(rows)
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
		Args:    takes(1, 1),
		RunE: f.reading(func(cmd *cobra.Command, a *app, args []string) error {
			list, err := a.runsIn(cmd.Context(), args[0], limit)
			if err != nil {
				return err
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
	if f := r.Failure(); f != nil && r.Status == recovery.StatusFailed {
		t.Error = f.LocalLine(time.Now())
	}
	return t
}

func (a *app) showTurn(t turn, asJSON bool) error {
	if asJSON {
		encoder := show.JSON(a.Screen.Out)
		return encoder.Encode(t)
	}
	status := string(t.Status)
	if t.Open {
		status = show.Recoverable
	}
	ink, tell := a.Screen.Ink, a.Screen.Print
	tell(ink.Dim(fmt.Sprintf("%s  %s  %s  %s", show.Stamp(t.StartedAt), t.Run, status, terminal.OneLine(t.Model))))
	tell(show.Indent(ink.Bold(terminal.Printable(t.Prompt, true)), "> "))
	if t.Answer != "" {
		tell(terminal.Printable(t.Answer, true))
	}
	if t.Truncated {
		tell(ink.Amber("! " + show.CutText))
	}
	if t.Error != "" {
		tell(ink.Red("✗ " + terminal.OneLine(t.Error)))
	}
	tell("")
	return nil
}
