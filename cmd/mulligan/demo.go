package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/demo"
	"github.com/mulligan-run/mulligan/server"
)

func newDemo() *cobra.Command {
	var (
		f           common
		autoRecover bool
		serve       bool
		addr        string
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a run fail and recover; no key, no network",
		Long: "A real run against a fake provider on this computer that fails on purpose: it breaks off in the middle\n" +
			"of an answer, is unavailable, and runs out of capacity. A plugin, in a process of its own, decides what\n" +
			"to do each time.\n\n" +
			"The models fable/" + faultlab.DemoModel + " and atlas/" + faultlab.DemoFallback + " are always there: `mulligan recover` and `runs resume` start\n" +
			"the demo's provider themselves when a run needs it.",
		Example: `mulligan demo
mulligan demo --auto-recover=false  # stop and ask
mulligan demo --serve               # only the provider, to try run against`,
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			if serve {
				a := &app{&server.Server{Screen: f.screen(cmd)}}
				ctx, stop := a.interruptible(cmd.Context())
				defer stop()
				return demo.Serve(ctx, a.Screen, addr)
			}
			settled := &config.Config{AutoRecover: autoRecover, State: cmp.Or(f.state, os.Getenv("MULLIGAN_STATE"))}
			srv, err := server.New(settled, f.screen(cmd))
			if err != nil {
				return err
			}
			ctx, stop := (&app{srv}).interruptible(cmd.Context())
			defer stop()
			return interrupted(ctx, demo.Play(ctx, srv))
		}),
	}
	cmd.Flags().StringVar(&f.state, "state", "", "the folder that keeps runs (default $XDG_STATE_HOME/mulligan)")
	cmd.Flags().BoolVar(&autoRecover, "auto-recover", true, "recover automatically; false = stop and ask")
	cmd.Flags().BoolVar(&serve, "serve", false, "only serve the demo's provider")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "the loopback address for --serve")
	return cmd
}
