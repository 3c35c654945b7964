package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

func newPluginVerify() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "verify [NAME…]",
		Short: "Say whether plugins are what was pinned",
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
	entries, err := a.named(names)
	if err != nil {
		return usage(err)
	}
	l, err := readLock(a.config.lockPath())
	if err != nil {
		return err
	}
	s := &screen{out: a.screen.out, err: a.screen.out, ink: wantsColour(a.screen.liveOut)}
	broken := 0
	for _, p := range entries {
		pin := l.Plugins[p.Name]
		switch {
		case p.isRemote():
			s.line(s.ink.amber("! ") + p.Name + ": a service at " + oneLine(p.Address) + ", which cannot be pinned")
		case p.isBuiltin():
			s.line(s.ink.green("✓ ") + p.Name + ": part of this program")
		case pin.SHA256 == "":
			s.line(s.ink.amber("! ") + p.Name + ": not pinned; `" + a.hint("plugin pin "+p.Name) + "` pins it")
		default:
			breach := a.breach(p, pin)
			if breach == nil {
				s.line(s.ink.green("✓ ") + p.Name + ": as pinned, " + plural(pin.Files, "file", "files"))
				continue
			}
			broken++
			s.tellBreach(p, breach)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Plugins)) {
		if len(names) == 0 && !slices.ContainsFunc(entries, func(p pluginEntry) bool { return p.Name == name }) {
			s.line(s.ink.amber("! ") + name + ": in " + l.path + " and not in the config")
		}
	}
	if broken > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// breach is a plugin that is not what was pinned: lines that say so.
type breach []string

// breach gives nil where the plugin's folder is what was pinned.
func (a *app) breach(p pluginEntry, pin lockEntry) breach {
	now, err := examine(p)
	switch {
	case err != nil:
		return breach{"it cannot be examined: " + excerpt(err.Error()), "expected  " + pin.SHA256}
	case now.sha256 == pin.SHA256:
		return nil
	}
	lines := breach{"folder    " + oneLine(now.folder), "expected  " + pin.SHA256, "actual    " + now.sha256}
	if changed := whatChanged(pin.Contents, contents(now.folder)); changed != "" {
		lines = append(lines, "what      "+changed)
	} else {
		lines = append(lines, fmt.Sprintf("what      not known: %s then, %d now", plural(pin.Files, "file", "files"), now.files))
	}
	return append(lines, "If it may run as it is now: "+a.hint("plugin pin "+p.Name))
}

func (s *screen) tellBreach(p pluginEntry, b breach) {
	s.line(s.ink.red("✗ ") + "Plugin " + p.Name + " is not what was pinned, and does not run:")
	for _, line := range b {
		s.line("    " + line)
	}
}

// tellBreaches says which of the configured plugins are not what was pinned.
func (a *app) tellBreaches() {
	for _, p := range a.config.plugins() {
		if pin := a.lock.Plugins[p.Name]; pin.SHA256 != "" && p.hasFolder() {
			if b := a.breach(p, pin); b != nil {
				a.screen.tellBreach(p, b)
			}
		}
	}
}
