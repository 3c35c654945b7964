package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/build"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "mulligan %s (%s, %s/%s)\n", build.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}),
	}
}
