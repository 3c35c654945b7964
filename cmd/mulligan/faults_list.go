package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/explain"
)

func newFaultsList() *cobra.Command {
	var (
		f      explain.RowFilter
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the fault catalogue",
		Long: "List the fault catalogue, by kind. A fault is retryable or not for the same request: yes, no, once, or with\n" +
			"something else done first: repair the request, refresh the key, switch the model, suspend for long.",
		Example: `mulligan faults list --kind rate_limit
mulligan faults list --provider anthropic  # --provider any: what can happen with all of them
mulligan faults list --wire gemini         # what can be played on that wire
mulligan faults list --json`,
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			rows, err := f.Rows()
			if err != nil {
				return exit.Usage(err)
			}
			if asJSON {
				return explain.WriteRows(cmd.OutOrStdout(), rows)
			}
			explain.ListRows(cmd.OutOrStdout(), rows)
			return nil
		}),
	}
	cmd.Flags().StringVar(&f.Kind, "kind", "", "only this kind of failure; none = what is not a failure")
	cmd.Flags().StringVar(&f.Provider, "provider", "", "only the faults of this provider; any = those of no one in particular")
	cmd.Flags().StringVar(&f.Wire, "wire", "", "only what can be played on this wire: "+strings.Join(catalogue.Wires(), ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, with every column")
	return cmd
}
