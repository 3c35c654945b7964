package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/explain"
)

func newFaultsShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ROW…",
		Short: "Show a fault in full: what it is, what to do, its bytes",
		Long: "Show rows of the catalogue in full: what a fault is, what a client should do about it, what Mulligan makes\n" +
			"of it, and what the fault lab sends, byte for byte. Lines of a body that begin with @ are acts, such as\n" +
			"@pause 10s, @cut or @hang; {{now+7s|http}} and the like are filled in when it is played.",
		Example: `mulligan faults show A23
mulligan faults show O12-server_error  # a variant of a row`,
		Args: takes(1, anyNumber),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			for i, name := range args {
				row, scripts, err := explain.FindFault(name)
				if err != nil {
					return exit.Usage(err)
				}
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := explain.ShowFault(explain.NewNote(cmd.OutOrStdout()), row, scripts); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
