package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/plugininstall"
	"github.com/mulligan-run/mulligan/internal/terminal"
)

const updateHelp = `Fetch what a plugin's source has now, or what SOURCE has, and show what changes: its
version, its files, what it asks for. Once you agree it is tested and pinned, and
takes the old one's place; the rest of its entry in mulligan.yaml stays as it is,
and a grant that you took back stays so. If anything goes wrong, the old one stays.
A process that runs the old one goes on until it ends: start it again.`

func newPluginUpdate() *cobra.Command {
	var (
		f            common
		yes, private bool
	)
	cmd := &cobra.Command{
		Use:     "update NAME [SOURCE]",
		Short:   "Show what is new in an installed plugin, and take it",
		Long:    updateHelp,
		Example: "mulligan plugin update my-rules\nmulligan plugin update my-rules pypi:my-rules@1.2.0",
		Args:    takes(1, 2),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			var from *plugininstall.Source
			if len(args) == 2 {
				source, err := plugininstall.ParseSource(args[1])
				if err != nil {
					return err
				}
				from = &source
			}
			if err := mayAsk(cmd, yes); err != nil {
				return err
			}
			in, err := a.installer(cmd, yes)
			if err != nil {
				return err
			}
			in.AllowPrivate = private
			ctx, stop := a.interruptible(cmd.Context())
			defer stop()
			p, err := in.Update(ctx, args[0], from)
			switch {
			case errors.Is(err, plugininstall.ErrNewest):
				fmt.Fprintf(a.Screen.Out, "Plugin %s: there is nothing new.\n", args[0])
				return nil
			case err != nil:
				return interrupted(ctx, err)
			}
			fmt.Fprintln(a.Screen.Out, terminal.OneLine(fmt.Sprintf("Plugin %s is updated and pinned anew: %s", p.Name, p.Version)))
			return nil
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "agree to what changes, unseen: for scripts")
	cmd.Flags().BoolVar(&private, "allow-private", false, "an archive may come from an address of a private network")
	return cmd
}
