package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/terminal"
	gatewayclient "github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/show"
)

const actHelp = `
Every gateway that serves this state folder does it, with its own plugins: a plugin's process belongs to one.
It is written to the plugin's log (mulligan plugin logs) with who wanted it.`

// pluginActs are the verbs, and what they do.
var pluginActs = []struct{ act, short, long string }{
	{
		"restart", "Start a plugin anew in the gateways that run now",
		"Start a plugin anew: a new process is asked from then on, and what the old one was asked is answered.\nIf the new one does not start, the old one stays, and the error says why.",
	},
	{
		"disable", "Have a plugin asked no more, until it is enabled or its gateway ends",
		"Have a plugin asked no more. What it was asked before is answered, for up to 5 s; from then on it has no vote,\n" +
			"in runs under way as in new ones. A gateway that is started anew asks it again: what holds for good is\nthe configuration. A plugin with fail_closed cannot be disabled, since no call would begin.",
	},
	{"enable", "Have a plugin asked again that was disabled", "Have a plugin asked again that was disabled. What counted against it before does not count any more."},
}

func newPluginActs() []*cobra.Command {
	var verbs []*cobra.Command
	for _, of := range pluginActs {
		var f common
		cmd := &cobra.Command{
			Use:     of.act + " NAME",
			Short:   of.short,
			Long:    of.long + "\n" + actHelp,
			Example: "mulligan plugin " + of.act + " auto-recover",
			Args:    takes(1, 1),
			RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
				return a.actOnPlugin(cmd, args[0], of.act)
			}),
		}
		f.register(cmd)
		verbs = append(verbs, cmd)
	}
	return verbs
}

func (a *app) actOnPlugin(cmd *cobra.Command, name, act string) error {
	all, err := a.gateways()
	if err != nil {
		return err
	}
	var errs []error
	for _, one := range all {
		p, err := one.ActOnPlugin(cmd.Context(), name, act)
		if problem, ok := errors.AsType[*gatewayclient.Problem](err); ok {
			err = errors.New(problem.Detail)
			if problem.Status == http.StatusNotFound {
				err = fmt.Errorf("it has no plugin %s: `%s` lists them", show.Clipped(name), a.Screen.Hint("plugin list"))
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("process %d: %w", one.PID, err))
			continue
		}
		line := fmt.Sprintf("%s is %s in process %d", p.Name, p.State, one.PID)
		if p.LastError != "" {
			line += ": " + p.LastError
		}
		fmt.Fprintln(a.Screen.Out, terminal.OneLine(line))
	}
	return errors.Join(errs...)
}
