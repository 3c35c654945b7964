package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/probe"
	"github.com/mulligan-run/mulligan/server"
)

func newServe() *cobra.Command {
	var (
		f       common
		plugins []string
		asJSON  bool
		ready   bool
		at      server.Reach
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
			"Runs that another living process drives are left to it. Several of these may run side by side; each\n" +
			"run goes to one of them. Ctrl-C or SIGTERM ends it within 10 s: runs in the middle of an answer keep what they have, and\n" +
			"the next one that starts continues them.\n\n" +
			"Programs that call models can use its address in the place of their provider's: it answers\n" +
			"/v1/messages, /v1/chat/completions, /v1/responses and /v1beta/models/MODEL:generateContent as\n" +
			"mulligan proxy does, with the token of this installation as their key.\n\n" +
			"It prints a line when it continues a run and one when that run settles, never what was said.\n" +
			"Providers, plugins and tools are those of the configuration, which is read once at the start.",
		Example: `mulligan serve
mulligan serve --open          # and open the page, signed in
mulligan login                 # a link that lets a browser in, once
mulligan serve --listen none   # only continue runs
mulligan serve --json | jq -r 'select(.run) | [.run, .msg] | @tsv'
mulligan runs list --waiting   # what it will continue`,
		Args: cobra.NoArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, _ []string) error {
			if ready {
				return probe.Ready(cmd.Context(), a.Dir)
			}
			at.Usual = !cmd.Flags().Changed("listen")
			if err := a.addMCP(cmd.Flags()); err != nil {
				return err
			}
			return a.serve(cmd.Context(), plugins, &at, asJSON)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&plugins, "plugin", nil, server.PluginUsage)
	registerMCP(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "log as JSON lines")
	cmd.Flags().BoolVar(&ready, "probe", false, "serve nothing, but say by the exit code whether another serve of this state folder could begin a run now")
	registerReach(cmd, &at)
	cmd.Flags().BoolVar(&at.Open, "open", false, "open the page in your browser, signed in; a free port will do if 8484 is taken")
	cmd.Flags().StringVar(&at.Role, "role", server.RoleAll, "gateway = begin runs and drive none: others that share the database do")
	return cmd
}

// usualAddress is where the page is by default.
const usualAddress = "127.0.0.1:8484"

// open is what the program does without a verb at a terminal: it serves, and opens the page.
func open(cmd *cobra.Command, a *app, _ []string) error {
	if found, err := a.InviteToRunning(cmd.Context()); found || err != nil {
		return err
	}
	a.Screen.Line("Mulligan runs until Ctrl-C. `" + a.Screen.Hint("--help") + "` lists what else it does.")
	return a.serve(cmd.Context(), nil, &server.Reach{Address: usualAddress, Usual: true, Open: true}, false)
}

// serve drives the store's runs until a signal comes.
func (a *app) serve(ctx context.Context, plugins []string, at *server.Reach, asJSON bool) error {
	ctx, stop := a.releasable(ctx)
	defer stop()
	if err := a.Config.AddPlugins(plugins); err != nil {
		return exit.Usage(err)
	}
	return interrupted(ctx, a.Serve(ctx, at, server.LogTo(a.Screen.Out, asJSON, slog.LevelInfo)))
}

// registerReach adds the flags for where the HTTP server is reached.
func registerReach(cmd *cobra.Command, r *server.Reach) {
	flags := cmd.Flags()
	flags.StringVar(&r.Address, "listen", usualAddress, "serve the chat page and the HTTP API at this address, or at unix:/run/user/1000/mulligan.sock; none = not at all")
	flags.StringVar(&r.Cert, "tls-cert", "", "the certificate to serve with, a PEM file with the chain to its authority")
	flags.StringVar(&r.Key, "tls-key", "", "its key, a PEM file")
	flags.BoolVar(&r.Expose, "expose", false, "listen without TLS where others can reach it, because a proxy or a tunnel takes care of that")
	flags.StringArrayVar(&r.Hosts, "allow-host", nil, "another host name, with its port, that the gateway answers to, such as box.example:8484 (repeatable)")
	flags.StringArrayVar(&r.Origins, "allow-origin", nil, "the origin of a proxy in front of it, such as https://box.example (repeatable)")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
}
