package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
)

// logsFlags are the flags of plugin logs.
type logsFlags struct {
	common
	follow, json bool
	lines        int
}

func newPluginLogs() *cobra.Command {
	f := &logsFlags{}
	cmd := &cobra.Command{
		Use:   "logs [NAME]",
		Short: "Show what plugins wrote to standard error, and what happened to them",
		Long: "Show what a plugin, or all of them, wrote to standard error and what happened to it, whichever process\n" +
			"ran it. The logs are bounded: of each plugin about the last 3 MiB are kept.",
		Example: "mulligan plugin logs\nmulligan plugin logs mine --follow\nmulligan plugin logs mine --lines 1000 --json | jq -r 'select(.level == \"ERROR\") | .msg'",
		Args:    takes(0, 1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return f.show(cmd, a, args)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on showing what comes, until Ctrl-C")
	cmd.Flags().IntVarP(&f.lines, "lines", "n", 50, "how many of the last lines")
	cmd.Flags().BoolVar(&f.json, "json", false, "as JSON lines")
	return cmd
}

func (f *logsFlags) show(cmd *cobra.Command, a *app, args []string) error {
	if f.lines < 0 {
		return exit.Usagef("--lines %d is negative", f.lines)
	}
	logs, err := devtools.PluginLogs(a.Server, args, f.follow)
	if err != nil {
		return err
	}
	defer devtools.CloseLogs(logs)
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	var all []devtools.LogLine
	for _, l := range logs {
		all = append(all, l.History()...)
	}
	slices.SortStableFunc(all, func(x, y devtools.LogLine) int { return x.At.Compare(y.At) })
	w := &devtools.LogWriter{Screen: a.Screen.OnStdout(), JSON: f.json}
	if err := w.Write(all[max(0, len(all)-f.lines):]); err != nil || !f.follow {
		return err
	}
	return w.Follow(ctx, logs)
}
