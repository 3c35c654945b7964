package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newPlugin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Recovery plugins: which are configured, and whether they start",
		Long: "A recovery plugin is a program that is asked about every failed model call and answers retry,\n" +
			"switch_model or fail. auto-recover comes with this program and is configured by default.",
		Example: `mulligan plugin list

# mulligan.yaml
plugins:
  - name: mine
    command: [./my-plugin]
  - auto-recover`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginList(), newPluginReplay(), newPluginRules(), newPluginServe())
	return cmd
}

func newPluginList() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Start the configured plugins and show what they say of themselves",
		Example: "mulligan plugin list",
		Args:    cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			a, err := f.load(cmd)
			if err != nil {
				return err
			}
			defer a.close()
			if err := a.startPlugins(cmd.Context()); err != nil {
				return err
			}
			return a.listPlugins()
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) listPlugins() error {
	if a.plugins == nil {
		a.screen.line("No plugin is configured (plugins: [] in " + orElse(a.config.path, "mulligan.yaml") + "): failures are final.")
		return nil
	}
	w := tabwriter.NewWriter(a.screen.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tVERSION\tPID\tRESTARTS\tLAST ERROR")
	failed := false
	for _, s := range a.plugins.Statuses() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", s.Name, s.State, orElse(oneLine(s.Version), "-"), s.PID, s.Restarts, orElse(excerpt(s.LastError), "-"))
		failed = failed || s.PID == 0
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if failed {
		return &exitError{code: exitFailed}
	}
	return nil
}

func newPluginServe() *cobra.Command {
	return &cobra.Command{
		Use:    "serve NAME",
		Short:  "Be a builtin plugin: hosts start this, people do not",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			serve := builtins[args[0]]
			if serve == nil {
				return usagef("there is no builtin plugin %q; there are: %s", args[0], builtinNames())
			}
			serve()
			return nil
		}),
	}
}
