package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
)

const grantHelp = `Grant a plugin what it asks for in the file mulligan-plugin.yaml of its folder:

  name: mine
  description: Pages whoever is on call.
  env: [PAGER_TOKEN]
  transcript: messages   # what is said in the runs that it is asked about

The grant is kept in mulligan.lock, beside the config. A plugin gets the variables
that it asks for and that were granted, those that env: in the config gives it,
and PATH, LANG, TZ, TMPDIR and HOME; nothing else of the environment reaches it.
Without a grant no plugin learns what was said in a run. If it asks for more later,
that is not granted.`

func newPluginGrant() *cobra.Command {
	var (
		f      common
		revoke bool
	)
	cmd := &cobra.Command{
		Use:     "grant NAME",
		Short:   "Grant a plugin what it asks for",
		Long:    grantHelp,
		Example: "mulligan plugin grant mine\nmulligan plugin grant mine --revoke",
		Args:    takes(1, 1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return a.grant(args[0], revoke)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take back what was granted")
	return cmd
}

func (a *app) grant(name string, revoke bool) error {
	entries, err := a.NamedPlugins([]string{name})
	if err != nil {
		return exit.Usage(err)
	}
	p := entries[0]
	if !p.HasFolder() {
		return exit.Usagef("plugin %s %s: it asks for nothing", p.Name, p.Nature())
	}
	l, err := trust.ReadLock(a.Config.LockPath())
	if err != nil {
		return err
	}
	entry := l.Plugins[name]
	if revoke {
		entry.Env, entry.Transcript = nil, ""
		fmt.Fprintf(a.Screen.Out, "Plugin %s has no grant now.\n", name)
		return l.Set(name, entry)
	}
	m, err := trust.ManifestOf(config.FolderOf(p))
	if err != nil {
		return fmt.Errorf("plugin %s: %w", name, err)
	}
	if m.Description != "" {
		fmt.Fprintln(a.Screen.Out, name+": "+terminal.OneLine(m.Description))
	}
	entry.Env, entry.Transcript = slices.Sorted(slices.Values(m.Env)), ""
	var gets []string
	if len(entry.Env) > 0 {
		gets = append(gets, "the environment's "+strings.Join(entry.Env, ", "))
	}
	if m.Transcript == trust.TranscriptMessages {
		entry.Transcript = trust.TranscriptMessages
		gets = append(gets, "what is said in the runs that it is asked about, tools' arguments and results included")
	}
	if len(gets) == 0 {
		fmt.Fprintf(a.Screen.Out, "Plugin %s asks for nothing.\n", name)
		return l.Set(name, entry)
	}
	fmt.Fprintf(a.Screen.Out, "Plugin %s is granted %s.\n", name, strings.Join(gets, "; and "))
	for _, variable := range entry.Env {
		if _, set := os.LookupEnv(variable); !set {
			a.Screen.Line(a.Screen.Ink.Amber("! ") + variable + " is not set here.")
		}
	}
	return l.Set(name, entry)
}
