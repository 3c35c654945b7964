package main

import "github.com/spf13/cobra"

func newACP() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use: "acp", Short: "Be the agent of an editor, over stdin and stdout (Agent Client Protocol)",
		Long: `Speak the Agent Client Protocol with the editor that starts this program: an agent with the
models, tools and plugins that are configured here. Where its model fails, the editor asks
its user what to do; conversations are those that every other client of Mulligan has.`,
		Example: `# In the settings of Zed:
{"agent_servers": {"Mulligan":
  {"type": "custom", "command": "mulligan", "args": ["acp"]}}}`,
		Args: cobra.NoArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, _ []string) error {
			ctx, stop := a.releasable(cmd.Context())
			defer stop()
			return interrupted(ctx, a.ServeACP(ctx, cmd.OutOrStdout(), cmd.InOrStdin()))
		}),
	}
	f.register(cmd)
	return cmd
}
