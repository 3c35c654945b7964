package main

import (
	"context"
	"errors"
	"log/slog"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/runner"
)

func newServe() *cobra.Command {
	var (
		f       common
		plugins []string
		asJSON  bool
		at      reach
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the chat page and the HTTP API, and continue runs whose time has come",
		Long: "Serve a page to chat with models, and an API for other clients, to this machine only; `mulligan login`\n" +
			"lets a browser in. It also continues every run in the store that nobody drives:\n\n" +
			"  - a run that waits for a time, such as a quota's reset, when the time has come; also right after\n" +
			"    the computer wakes from a sleep over it\n" +
			"  - a run whose process died, at once: what was finished is kept and not done again\n" +
			"  - a failed run whose suggestion nobody answered in time: it ends\n\n" +
			"Runs that a living process drives are left to it. Several of these may run; each run goes to one of\n" +
			"them. Ctrl-C or SIGTERM ends it within 10 s: runs in the middle of an answer keep what they have, and\n" +
			"the next one that starts continues them.\n\n" +
			"It prints a line when it continues a run and one when that run settles, never what was said.\n" +
			"Providers, plugins and tools are those of the configuration, which is read once at the start.",
		Example: `mulligan serve
mulligan login                 # a link that lets a browser in, once
mulligan serve --listen none   # only continue runs
mulligan serve --json | jq -r 'select(.run) | [.run, .msg] | @tsv'
mulligan runs list --waiting   # what it will continue`,
		Args: cobra.NoArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, _ []string) error { return a.serve(cmd, plugins, &at, asJSON) }),
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&plugins, "plugin", nil, pluginUsage)
	registerMCP(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "log as JSON lines")
	at.register(cmd)
	return cmd
}

// serve keeps the runs until a signal ends it.
func (a *app) serve(cmd *cobra.Command, plugins []string, at *reach, asJSON bool) error {
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	log := logTo(a.screen.out, asJSON, slog.LevelInfo)
	if err := a.config.addMCP(cmd.Flags()); err != nil {
		return err
	}
	at.usual = !cmd.Flags().Changed("listen")
	options := append(a.observed(ctx, at.address != noFace, log), runner.WithLogger(log))
	r, models, err := a.driver(ctx, plugins, options...)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer models.close()
	log.Info("serving", "store", a.dir)
	if missing := models.lacks(a.config); missing != nil {
		log.Warn(missing.Error())
	}
	defer log.Info("stopped")
	tell := func(word string) func(*runner.Run) {
		return func(run *runner.Run) { tellRun(log, run, word) }
	}
	if at.address == noFace {
		return r.Keep(ctx, tell("goes on"))
	}
	face, err := a.openFace(ctx, at, log, r, models, tell("begins"))
	if at.usual && errors.Is(err, syscall.EADDRINUSE) {
		log.Warn("another program listens at " + at.address + ": runs are kept, without a page and an API; choose another address with --listen")
		return r.Keep(ctx, tell("goes on"))
	}
	if err != nil {
		return err
	}
	defer face.close()
	defer context.AfterFunc(ctx, face.close)() // at once: no run begins while others are let go of
	return r.Keep(ctx, tell("goes on"))
}

// tellRun logs that a run goes on, and what it comes to.
func tellRun(log *slog.Logger, run *runner.Run, begins string) {
	log = log.With("run", run.ID())
	log.Info(begins)
	result, err := run.Wait()
	word, detail := standing(result, err)
	log = log.With("model", result.Model)
	if detail != "" {
		log = log.With("detail", detail)
	}
	log.Info(word)
}
