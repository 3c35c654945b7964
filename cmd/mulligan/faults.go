package main

import (
	"github.com/spf13/cobra"
)

func newFaults() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "faults",
		Short: "Look up real provider failures, and serve them to any agent",
		Long: "A catalogue of how model providers really fail, byte for byte, and a provider on this computer that\n" +
			"plays it: for your own agent, whatever it is written in. No key, no network.",
		Example: `# What can go wrong:
mulligan faults list --kind rate_limit

# One fault, with its bytes and what a client should do:
mulligan faults show A23

# A provider on this computer that fails on request:
mulligan faults serve`,
	}
	cmd.AddCommand(newFaultsList(), newFaultsShow(), newFaultsServe())
	return cmd
}
