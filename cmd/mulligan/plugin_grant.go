package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/host"
)

const grantHelp = `Let a plugin have what it asks for in the file mulligan-plugin.yaml of its folder:

  name: mine
  description: Pages whoever is on call.
  env: [PAGER_TOKEN]
  transcript: messages        # what is said in the runs that it is asked about

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
		Short:   "Let a plugin have what it asks for",
		Long:    grantHelp,
		Example: "mulligan plugin grant mine\nmulligan plugin grant mine --revoke",
		Args:    cobra.ExactArgs(1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return a.grant(args[0], revoke)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take back what was granted")
	return cmd
}

func (a *app) grant(name string, revoke bool) error {
	entries, err := a.named([]string{name})
	if err != nil {
		return usage(err)
	}
	p := entries[0]
	if !p.hasFolder() {
		return usagef("plugin %s %s: it asks for nothing", p.Name, p.nature())
	}
	l, err := readLock(a.config.lockPath())
	if err != nil {
		return err
	}
	entry := l.Plugins[name]
	if revoke {
		entry.Env, entry.Transcript = nil, ""
		fmt.Fprintf(a.screen.out, "Plugin %s has no grant now.\n", name)
		return l.set(name, entry)
	}
	m, err := p.manifest()
	if err != nil {
		return fmt.Errorf("plugin %s: %w", name, err)
	}
	if m.Description != "" {
		fmt.Fprintln(a.screen.out, name+": "+oneLine(m.Description))
	}
	entry.Env, entry.Transcript = slices.Sorted(slices.Values(m.Env)), ""
	var gets []string
	if len(entry.Env) > 0 {
		gets = append(gets, "the environment's "+strings.Join(entry.Env, ", "))
	}
	if m.Transcript == transcriptMessages {
		entry.Transcript = transcriptMessages
		gets = append(gets, "what is said in the runs that it is asked about, tools' arguments and results included")
	}
	if len(gets) == 0 {
		fmt.Fprintf(a.screen.out, "Plugin %s asks for nothing.\n", name)
		return l.set(name, entry)
	}
	fmt.Fprintf(a.screen.out, "Plugin %s is granted %s.\n", name, strings.Join(gets, "; and "))
	for _, variable := range entry.Env {
		if _, set := os.LookupEnv(variable); !set {
			a.screen.line(a.screen.ink.amber("! ") + variable + " is not set here.")
		}
	}
	return l.set(name, entry)
}

// set writes the lock with that entry; one that says nothing is left out.
func (l *lock) set(name string, e lockEntry) error {
	l.Plugins[name] = e
	if e.SHA256 == "" && len(e.Env) == 0 && e.Transcript == "" {
		delete(l.Plugins, name)
	}
	return l.write()
}

// manifest is what the plugin asks for.
func (p pluginEntry) manifest() (manifest, error) {
	folder, err := host.PluginFolder(host.Spec{Name: p.Name, Command: p.Command, Folder: p.Folder})
	if err != nil {
		return manifest{}, err
	}
	return readManifest(folder)
}

// give gives spec what the plugin asks for and was granted. What it asks for in vain is
// said.
func (a *app) give(spec *host.Spec, p pluginEntry) {
	m, err := p.manifest()
	if errors.Is(err, os.ErrNotExist) {
		return // the host says that its program is not there
	}
	if err != nil {
		a.screen.line(a.screen.ink.amber("! ") + "Plugin " + p.Name + " gets nothing of what it asks for: " + excerpt(err.Error()))
		return
	}
	grant := a.lock.Plugins[p.Name]
	if missing := m.missing(p, grant); len(missing) > 0 {
		a.screen.line(a.screen.ink.amber("! ") + "Plugin " + p.Name + " asks for " + strings.Join(missing, ", ") + ", which it does not get: " + a.hint("plugin grant "+p.Name))
	}
	for _, name := range m.Env {
		if value, set := os.LookupEnv(name); set && slices.Contains(grant.Env, name) && !p.gives(name) {
			spec.Env = append(spec.Env, name+"="+value)
		}
	}
	if m.Transcript == transcriptMessages && grant.Transcript == transcriptMessages {
		spec.Transcript = true
	}
}
