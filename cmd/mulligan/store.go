package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
)

func newStore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look at where runs are kept, and bring a database up to date",
		Example: `mulligan store check
mulligan store migrate --store postgres://admin@db.internal/mulligan`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreCheck(), newStoreMigrate())
	return cmd
}

func newStoreCheck() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Say whether a run could begin now, and how long a write takes",
		Example: "mulligan store check --store postgres://mulligan@db.internal/mulligan",
		Args:    cobra.NoArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, _ []string) error {
			begun := time.Now()
			if err := timeline.CheckOf(cmd.Context(), a.Log); err != nil {
				return err
			}
			took := time.Since(begun)
			_, err := fmt.Fprintf(a.Screen.Out, "%s takes runs; a write took %s.\n", a.Place(), took.Round(100*time.Microsecond))
			return err
		}),
	}
	f.register(cmd)
	return cmd
}

func newStoreMigrate() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Bring a database to the schema of this version, which older ones refuse then",
		Example: "mulligan store migrate --store postgres://admin@db.internal/mulligan",
		Args:    cobra.NoArgs,
		RunE: f.loaded(func(cmd *cobra.Command, a *app, _ []string) error {
			if a.Config.Store == "" {
				return exit.Usagef("there is no database to migrate: a store in the state folder is brought up to date by whoever opens it. Name one with --store, MULLIGAN_STORE or store: in the config")
			}
			version, err := postgres.Migrate(cmd.Context(), a.Config.Store)
			if err == nil {
				_, err = fmt.Fprintf(a.Screen.Out, "%s is of schema %d.\n", a.Place(), version)
			}
			return err
		}),
	}
	f.register(cmd)
	return cmd
}
