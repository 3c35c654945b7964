package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/internal/answers"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// together is what the flags of recover --all say.
type together struct {
	all       bool
	filter    timeline.Filter
	answering answers.Request
}

func (t *together) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&t.all, "all", false, "every open suggestion, or those that the flags below say")
	flags.StringVar(&t.filter.Kind, "cause", "", "with --all: only runs that failed so: overloaded, rate_limit, …")
	flags.StringVar(&t.answering.Provider, "provider", "", "with --all: only runs that this provider's entry failed")
	flags.StringArrayVar(&t.filter.Labels, "label", nil, "with --all: only runs with this label, as name=value (repeatable)")
	flags.StringVar(&t.filter.Since, "since", "", "with --all: only runs since then: 12h, 7d, 2026-01-31")
	flags.BoolVar(&t.answering.Preview, "dry-run", false, "with --all: only say what would be done")
}

// recoverAll answers many suggestions, and continues their runs at the same time.
func recoverAll(cmd *cobra.Command, f *common, t *together, plugins []string, asJSON bool) error {
	a, err := f.open(cmd)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.addMCP(cmd.Flags()); err != nil {
		return err
	}
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	t.answering.Query.Limit = math.MaxInt32
	some, err := restrict(t.filter, &t.answering.Query)
	if err != nil {
		return err
	}
	if t.answering.Action == "switch" || t.answering.Action == "" && t.answering.Model != "" { // the canonical word, or what --model implies
		t.answering.Action = recovery.ButtonSwitchModel
	}
	var results []answers.Result
	more := false
	if some {
		if results, more, err = answers.All(ctx, a.Log, t.answering, time.Now(), nil); err != nil {
			return err
		}
	}
	sent, err := a.tellAnswers(results, asJSON && t.answering.Preview)
	switch {
	case err != nil:
		return err
	case len(results) == 0:
		a.Screen.Line(t.nothing(cmd.Flags(), a))
		return nil
	case len(sent) == 0:
		return nil
	}
	if err := a.resumeTogether(ctx, sent, plugins, asJSON); err != nil || !more {
		return err
	}
	return &exit.Error{Code: exit.CodeFailed, Err: fmt.Errorf("there are more than %d: run the command again for the rest", len(results))}
}

// nothing says that no suggestion was answered, since none is open or since none of them was meant. An
// action that nobody knows is no mistake by itself: a plugin's buttons have kinds of its own.
func (t *together) nothing(flags *pflag.FlagSet, a *app) string {
	if slices.ContainsFunc([]string{"cause", "provider", "label", "since"}, flags.Changed) {
		return "No open suggestion in " + a.Place() + " matches: " + a.Screen.Hint("runs list --needs-you")
	}
	done := "nothing was answered"
	if t.answering.Action != "" {
		done += fmt.Sprintf(" by %q", t.answering.Action)
	}
	return "No suggestion is open in " + a.Place() + ": " + done + "."
}

// tellAnswers prints what was or would be done, or why not, and returns the runs that continue.
func (a *app) tellAnswers(results []answers.Result, asJSON bool) (sent []timeline.Summary, err error) {
	for _, r := range results {
		if r.State == answers.Sent {
			sent = append(sent, r.Run)
			continue
		}
		if err := a.Screen.Answer(r, asJSON); err != nil {
			return nil, err
		}
	}
	return sent, nil
}
