package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

func newPluginVerify() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "verify [NAME…]",
		Short: "Check that plugins are still what was pinned",
		Long: "Compare the folder of every configured plugin, or of those that are named, with mulligan.lock. Nothing is started.\n" +
			"Exit code 1 if one is not what was pinned.",
		Example: "mulligan plugin verify",
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return a.verify(args)
		}),
	}
	f.register(cmd)
	return cmd
}

func (a *app) verify(names []string) error {
	entries, err := a.NamedPlugins(names)
	if err != nil {
		return exit.Usage(err)
	}
	l, err := trust.ReadLock(a.Config.LockPath())
	if err != nil {
		return err
	}
	s := a.Screen.OnStdout()
	broken := 0
	for _, p := range entries {
		pin := l.Plugins[p.Name]
		switch {
		case p.IsRemote():
			s.Line(s.Ink.Amber("! ") + p.Name + ": a service at " + terminal.OneLine(p.Address) + ", which cannot be pinned")
		case p.IsBuiltin():
			s.Line(s.Ink.Green("✓ ") + p.Name + ": part of this program")
		case pin.SHA256 == "":
			s.Line(s.Ink.Amber("! ") + p.Name + ": not pinned; `" + a.Screen.Hint("plugin pin "+p.Name) + "` pins it")
		default:
			breach := a.Breach(p, pin)
			if breach == nil {
				s.Line(s.Ink.Green("✓ ") + p.Name + ": as pinned, " + show.Plural(pin.Files, "file", "files"))
				continue
			}
			broken++
			server.TellBreach(s, p, breach)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Plugins)) {
		if len(names) == 0 && !slices.ContainsFunc(entries, func(p config.Plugin) bool { return p.Name == name }) {
			s.Line(s.Ink.Amber("! ") + name + ": in " + l.Path + " and not in the config")
		}
	}
	if broken > 0 {
		return &exit.Error{Code: exit.CodeFailed}
	}
	return nil
}
