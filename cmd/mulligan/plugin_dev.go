package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/devlink"
	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

const devHelp = `Run a plugin while you write it: it is started anew when its folder changes, and
what it is asked, answers and logs is shown as it happens. If the new one does
not start, the old one goes on. Until Ctrl-C every run with the same state folder
asks this one instead of the configured plugin of its name, and says so.

The plugin is one of the config by its name, or a command that stands in for the
plugin of its name (--name, or the program's) with that one's settings. A command
that has flags follows --. A compiled plugin is started anew when it is built.

With --attach NAME you start the plugin yourself, for example under a debugger, with
the environment that is printed. One that you start later takes its place.`

// devFlags are the flags of plugin dev.
type devFlags struct {
	common
	name, folder string
	attach       bool
}

func newPluginDev() *cobra.Command {
	f := &devFlags{}
	cmd := &cobra.Command{
		Use:     "dev NAME|CMD…",
		Short:   "Run a plugin while you write it",
		Long:    devHelp,
		Example: "mulligan plugin dev ./my-plugin\nmulligan plugin dev --name mine -- python3 my_plugin.py --strict\nmulligan plugin dev --attach mine",
		Args:    takes(1, anyNumber),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return f.dev(cmd, a, args)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "the configured plugin that it stands in for")
	cmd.Flags().BoolVar(&f.attach, "attach", false, "use a plugin that you start")
	cmd.Flags().StringVar(&f.folder, "folder", "", "the folder that is watched (default the plugin's)")
	return cmd
}

func (f *devFlags) dev(cmd *cobra.Command, a *app, args []string) error {
	entry, err := f.entry(a.Config, args)
	if err != nil {
		return exit.Usage(err)
	}
	if !entry.HasFolder() && !f.attach {
		return exit.Usagef("plugin %s %s: there is nothing to develop", entry.Name, entry.Nature())
	}
	if f.folder != "" {
		entry.Folder = f.folder
	}
	if link, err := devlink.Find(cmd.Context(), a.Dir, entry.Name); err != nil || link != nil {
		if err == nil {
			err = fmt.Errorf("process %d runs a dev plugin %s already", link.PID, entry.Name)
		}
		return exit.Usage(err)
	}
	d := &devtools.Session{Server: a.Server, Entry: entry, Attached: f.attach, Screen: a.Screen.OnStdout()}
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	return d.Run(ctx)
}

// entry is the plugin to run.
func (f *devFlags) entry(c *config.Config, args []string) (config.Plugin, error) {
	if !f.attach {
		return devtools.StandIn(c, f.name, args)
	}
	if len(args) > 1 || f.name != "" || f.folder != "" || !yamlfile.EntryName.MatchString(args[0]) {
		return config.Plugin{}, errors.New("--attach takes the name of a plugin and nothing else: you start it")
	}
	for _, p := range c.AskedPlugins() {
		if p.Name == args[0] {
			return p, nil
		}
	}
	return config.Plugin{Name: args[0]}, nil
}
