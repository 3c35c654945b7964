package main

import (
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

func newMembers() *cobra.Command {
	var (
		f      common
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "members",
		Short:   "List the processes that share the work of a database",
		Example: "mulligan members --store postgres://mulligan@db.internal/mulligan",
		Args:    cobra.NoArgs,
		RunE: f.reading(func(cmd *cobra.Command, a *app, _ []string) error {
			list, err := a.Members(cmd.Context())
			switch {
			case err != nil:
				return err
			case asJSON:
				return show.JSON(a.Screen.Out).Encode(list)
			case len(list) == 0:
				a.Screen.Line("No members share " + a.Place() + ".")
				return nil
			}
			return server.ShowMembers(a.Screen.Out, list)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}
