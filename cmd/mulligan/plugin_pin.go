package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/show"
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
		Short:   "Pin plugins: they run only as they are now",
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
	entries, err := a.NamedPlugins(names)
	if err != nil {
		return exit.Usage(err)
	}
	l, err := trust.ReadLock(a.Config.LockPath())
	if err != nil {
		return err
	}
	pinned := 0
	for _, p := range entries {
		if !p.HasFolder() {
			if len(names) > 0 {
				return exit.Usagef("plugin %s %s: there is nothing to pin", p.Name, p.Nature())
			}
			continue
		}
		if err := a.pinOne(l, p); err != nil {
			return fmt.Errorf("plugin %s: %w", p.Name, err)
		}
		pinned++
	}
	if pinned == 0 {
		a.Screen.Line("There is no plugin to pin: builtin ones are part of this program, and services run elsewhere.")
		return nil
	}
	return l.Write()
}

func (a *app) pinOne(l *trust.Lock, p config.Plugin) error {
	now, err := trust.Examine(config.FolderOf(p))
	if err != nil {
		return err
	}
	asked, err := trust.ReadManifest(now.Folder)
	if err != nil {
		return err
	}
	before := l.Plugins[p.Name]
	word := "is pinned"
	if before.SHA256 == now.Sha256 {
		word = "was pinned already"
	} else if before.SHA256 != "" {
		word = "is pinned anew"
	}
	l.Plugins[p.Name] = trust.Entry{SHA256: now.Sha256, Files: now.Files, Contents: trust.Contents(now.Folder), Env: before.Env}
	fmt.Fprintln(a.Screen.Out, terminal.OneLine(fmt.Sprintf("Plugin %s %s: %s, %s", p.Name, word, now.Folder, show.Plural(now.Files, "file", "files"))))
	fmt.Fprintln(a.Screen.Out, "  sha256 "+now.Sha256)
	if missing := asked.Missing(p.Env, p.Transcript, before); len(missing) > 0 {
		fmt.Fprintf(a.Screen.Out, "  it asks for %s, which it does not get: %s\n", strings.Join(missing, ", "), a.Screen.Hint("plugin grant "+p.Name))
	}
	return nil
}
