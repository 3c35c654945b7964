package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/host"
)

const pinHelp = `Note the SHA-256 of the whole folder of a plugin, or of all that are configured, in
mulligan.lock beside the config. From then on the plugin only runs if its folder
is the same, and it runs from a private copy of it, so that nothing can change
between the check and the run.

The folder is that of the program or, for an interpreter, that of the script or
of the project around it; folder: in the config says otherwise. .git,
__pycache__, mulligan.lock and a link .mulligan ("plugin new --sdk") do not count.
Builtin plugins are part of this program.`

func newPluginPin() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:     "pin [NAME…]",
		Short:   "Let plugins only run as they are now",
		Long:    pinHelp,
		Example: "mulligan plugin pin\nmulligan plugin pin mine\nmulligan plugin verify",
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return a.pin(args)
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) pin(names []string) error {
	entries, err := a.named(names)
	if err != nil {
		return usage(err)
	}
	l, err := readLock(a.config.lockPath())
	if err != nil {
		return err
	}
	pinned := 0
	for _, p := range entries {
		if !p.hasFolder() {
			if len(names) > 0 {
				return usagef("plugin %s %s: there is nothing to pin", p.Name, p.nature())
			}
			continue
		}
		if err := a.pinOne(l, p); err != nil {
			return fmt.Errorf("plugin %s: %w", p.Name, err)
		}
		pinned++
	}
	if pinned == 0 {
		a.screen.line("There is no plugin to pin: builtin ones are part of this program, and services run elsewhere.")
		return nil
	}
	return l.write()
}

func (a *app) pinOne(l *lock, p pluginEntry) error {
	now, err := examine(p)
	if err != nil {
		return err
	}
	asked, err := readManifest(now.folder)
	if err != nil {
		return err
	}
	before := l.Plugins[p.Name]
	word := "is pinned"
	if before.SHA256 == now.sha256 {
		word = "was pinned already"
	} else if before.SHA256 != "" {
		word = "is pinned anew"
	}
	l.Plugins[p.Name] = lockEntry{SHA256: now.sha256, Files: now.files, Contents: contents(now.folder), Env: before.Env}
	fmt.Fprintln(a.screen.out, oneLine(fmt.Sprintf("Plugin %s %s: %s, %s", p.Name, word, now.folder, plural(now.files, "file", "files"))))
	fmt.Fprintln(a.screen.out, "  sha256 "+now.sha256)
	if missing := asked.missing(p, before); len(missing) > 0 {
		fmt.Fprintf(a.screen.out, "  it asks for %s, which it does not get: %s\n", strings.Join(missing, ", "), a.hint("plugin grant "+p.Name))
	}
	return nil
}

// named are the configured plugins of these names, or all of them.
func (a *app) named(names []string) ([]pluginEntry, error) {
	if len(names) == 0 {
		return a.config.plugins(), nil
	}
	var entries []pluginEntry
	for _, name := range names {
		i := slices.IndexFunc(a.config.plugins(), func(p pluginEntry) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no plugin %q is configured; `%s` lists them", clipped(name), a.hint("plugin list"))
		}
		entries = append(entries, a.config.plugins()[i])
	}
	return entries, nil
}

// examined is a plugin's folder as it is now.
type examined struct {
	folder, sha256 string
	files          int
}

func examine(p pluginEntry) (now examined, err error) {
	spec := host.Spec{Name: p.Name, Command: p.Command, Folder: p.Folder}
	if now.folder, err = host.PluginFolder(spec); err != nil {
		return now, err
	}
	now.sha256, now.files, err = host.HashFolder(spec)
	return now, err
}
