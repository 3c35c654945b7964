package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addMCP adds the servers of --mcp to the configuration.
func (a *app) addMCP(flags *pflag.FlagSet) error {
	lines, err := flags.GetStringArray("mcp")
	if err != nil {
		return err
	}
	return a.Config.AddMCP(lines)
}

func registerMCP(cmd *cobra.Command) {
	cmd.Flags().StringArray("mcp", nil, "one more MCP server, as NAME=COMMAND LINE, NAME=URL or URL (repeatable); none = no server at all")
}

func newMCP() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use: "mcp", Short: "Offer runs as a tool to an MCP client, over stdin and stdout",
		Long: `Speak the Model Context Protocol with the program that starts this one, over stdin and
stdout, and offer the tool "run": an agent with the models, tools and plugins that are
configured here. What happens is told as progress. Where its model fails, the client's
user is asked what to do (a form); a client without forms gets an error with the
suggestion in _meta.recoverySuggestion, which "mulligan recover" answers.

Which servers this one's own agents use is another matter: "mcp:" in mulligan.yaml.`,
		Example: `# In the configuration of an MCP client:
{"mcpServers": {"mulligan": {"command": "mulligan", "args": ["mcp"]}}}`,
		Args: cobra.NoArgs,
		RunE: f.opened(func(cmd *cobra.Command, a *app, _ []string) error { return a.serveMCP(cmd) }),
	}
	f.register(cmd)
	return cmd
}

// serveMCP serves a client until it disconnects, or a signal comes.
func (a *app) serveMCP(cmd *cobra.Command) error {
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	return interrupted(ctx, a.ServeMCP(ctx))
}
