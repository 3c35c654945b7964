package main

import (
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
)

func newPlugin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Recovery plugins: write, test, pin and watch them",
		Long: "A recovery plugin is a program that is asked about every failed model call and answers retry,\n" +
			"switch_model or fail. auto-recover comes with this program and is configured by default.",
		Example: `mulligan plugin list

# In mulligan.yaml:
plugins: [{name: mine, command: [./my-plugin]}, auto-recover]`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginDev(), newPluginGrant(), newPluginInstall(), newPluginList(), newPluginLogs(), newPluginNew(), newPluginPin(), newPluginPublish(), newPluginRemove())
	cmd.AddCommand(newPluginReplay(), newPluginRules(), newPluginSearch(), newPluginTest(), newPluginUpdate(), newPluginServe(), newPluginVerify())
	cmd.AddCommand(newPluginActs()...)
	return cmd
}

// newPluginServe is for people who type what a host starts: package server serves the host, before
// any verb is looked for.
func newPluginServe() *cobra.Command {
	return &cobra.Command{
		Use:    "serve NAME",
		Short:  "Be a builtin plugin: hosts start this, people do not",
		Hidden: true,
		Args:   takes(1, 1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			if !config.IsBuiltinName(args[0]) {
				return exit.Usagef("there is no builtin plugin %q; there are: %s", args[0], config.BuiltinNames())
			}
			return exit.Usagef("hosts start builtin plugins, people do not: name it in mulligan.yaml, as in plugins: [%s]", args[0])
		}),
	}
}
