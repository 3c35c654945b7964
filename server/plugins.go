package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/devlink"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/values"
)

// PluginUsage describes the flag --plugin.
const PluginUsage = "the command line of one more recovery plugin, asked before the configured ones; NAME=COMMAND names it (repeatable, in order); none = no plugin at all"

// hookDeadline is how long all plugins together may take for one failure.
const hookDeadline = 5 * time.Second

// Slack multiplies the plugins' deadlines, for tests, which start many programs at once on
// busy machines.
var Slack time.Duration = 1

// addHost prepares the configured plugins to be started.
func (srv *Server) addHost(ctx context.Context) error {
	if len(srv.Config.AskedPlugins()) > 0 {
		if err := srv.openShared(ctx); err != nil {
			return err
		}
	}
	return srv.HostFor(ctx, srv.Config.AskedPlugins())
}

// HostFor prepares these plugins to be started.
func (srv *Server) HostFor(ctx context.Context, entries []config.Plugin) error {
	if len(entries) == 0 {
		return nil
	}
	if err := srv.OpenLock(); err != nil {
		return err
	}
	options := []host.Option{host.WithLogger(srv.Logger()), host.WithStateDir(srv.PluginState()), host.WithRedact(secrets.Text)}
	if store, ok := besides[values.Store](srv.Log); ok {
		options = append(options, host.WithValues(store))
	}
	srv.Plugins = host.New(options...)
	for _, p := range entries {
		if srv.useDev(ctx, p) {
			continue
		}
		spec, err := srv.Spec(p)
		if err != nil {
			return err
		}
		if err := srv.Plugins.Add(spec); err != nil {
			return fmt.Errorf("plugin %s: %w", p.Name, err)
		}
	}
	return nil
}

// Spec is how the host runs a plugin. Pins and grants hold for the configured command, not for
// one that replaces it.
func (srv *Server) Spec(p config.Plugin) (spec host.Spec, err error) {
	if err := srv.OpenLock(); err != nil {
		return spec, err
	}
	spec, err = PluginSpec(p, os.Getenv)
	if err != nil || !p.HasFolder() || !srv.Config.Has(p) {
		return spec, err
	}
	srv.give(&spec, p)
	spec.Pin = srv.Lock.Plugins[p.Name].SHA256
	return spec, nil
}

// OpenLock reads the lock once.
func (srv *Server) OpenLock() (err error) {
	if srv.Lock == nil {
		srv.Lock, err = trust.ReadLock(srv.Config.LockPath())
	}
	return err
}

// Labels that mark plugins in a host's status.
const (
	LabelShadow = "shadow"
	LabelDev    = "dev"
)

// PluginState is the folder where hosts report their plugins' status to other
// processes.
func (srv *Server) PluginState() string { return filepath.Join(srv.Dir, "plugins") }

// hooks are the plugins as hooks for a runner, in the configured order.
func (srv *Server) hooks() []hooks.Named {
	hosted := srv.Plugins.Hooks()
	var list []hooks.Named
	for _, p := range srv.Config.AskedPlugins() {
		named := hooks.Named{Name: p.Name, Hook: srv.developed[p.Name], Shadow: p.Shadow, Occasions: p.Occasions, FailClosed: p.FailClosed}
		if i := slices.IndexFunc(hosted, func(h hooks.Named) bool { return h.Name == p.Name }); i >= 0 {
			named.Hook = hosted[i].Hook
		}
		if named.Hook != nil {
			list = append(list, named)
		}
	}
	return list
}

// useDev uses "plugin dev" in place of a plugin, if it runs one with that name.
func (srv *Server) useDev(ctx context.Context, p config.Plugin) bool {
	link, err := devlink.Find(ctx, srv.Dir, p.Name)
	if err != nil {
		srv.Screen.Line(srv.Screen.Ink.Amber("! ") + terminal.OneLine("no dev plugin "+p.Name+" is used: "+err.Error()))
	}
	if link == nil {
		return false
	}
	if srv.developed == nil {
		srv.developed = map[string]hooks.Hook{}
	}
	srv.developed[p.Name] = devlink.NewHook(link, p.AnswerWithin())
	instead := "the builtin one"
	if !p.IsBuiltin() {
		instead = cmp.Or(p.Address, strings.Join(p.Command, " "))
	}
	srv.Screen.Line(terminal.OneLine(fmt.Sprintf("Using dev plugin %s (process %d) instead of %s.", p.Name, link.PID, instead)))
	return true
}

// StartPlugins starts the plugins and waits for them. One that does not start is not an error:
// its status says why, and its next question starts it again.
func (srv *Server) StartPlugins(ctx context.Context) error {
	if err := srv.addHost(ctx); err != nil || srv.Plugins == nil {
		return err
	}
	srv.start(ctx)
	return nil
}

// start starts the plugins, and reports those that may not run. It compares each folder with its pin
// instead of looking at the error, because a run that ends early cuts the start short.
func (srv *Server) start(ctx context.Context) {
	err := srv.Plugins.Start(ctx)
	if err == nil {
		return
	}
	srv.tellBreaches()
	if ctx.Err() == nil {
		srv.Logger().Warn("plugins", "err", err)
	}
}

// WarmPlugins starts the plugins in the background, during the first model call.
func (srv *Server) WarmPlugins(ctx context.Context) error {
	if err := srv.addHost(ctx); err != nil || srv.Plugins == nil {
		return err
	}
	srv.tellMissing()
	srv.warming.Go(func() { srv.start(ctx) })
	return nil
}

// hookDeadlines gives every plugin its own deadline.
func hookDeadlines(c *config.Config) hooks.Deadlines {
	most := config.AnswerDeadline
	for _, p := range c.AskedPlugins() {
		most = max(most, p.AnswerWithin())
	}
	return hooks.Deadlines{Each: Slack * most, All: Slack * hookDeadline, Call: Slack * hooks.CallDeadline}
}

// PluginSpec converts the entry to the host's form; env gives environment variables.
func PluginSpec(p config.Plugin, env func(string) string) (host.Spec, error) {
	command := p.Command
	if len(command) == 0 && !p.IsRemote() {
		self, err := os.Executable()
		if err != nil {
			return host.Spec{}, fmt.Errorf("find this program, to run its builtin plugin: %w", err)
		}
		command = builtinCommand(self, p.Name)
	}
	spec := host.Spec{
		Name: p.Name, Command: command, Address: p.Address, TLS: p.TLS.Files(), Folder: p.Folder, Deadline: Slack * p.AnswerWithin(),
		Transcript: p.Transcript == trust.TranscriptMessages,
		Occasions:  p.Occasions, FailClosed: p.FailClosed,
		Late: true, // a missing plugin has no vote, its status says why, and the run goes on
	}
	spec.Restart, spec.Breaker = p.Policies()
	if p.Shadow {
		spec.Labels = map[string]string{LabelShadow: "true"}
	}
	for _, variable := range p.Env {
		if !strings.Contains(variable, "=") {
			variable += "=" + env(variable)
		}
		spec.Env = append(spec.Env, variable)
	}
	if p.Config == nil {
		return spec, nil
	}
	raw, err := json.Marshal(p.Config)
	if err != nil {
		return host.Spec{}, exit.Usagef("plugin %s: its config cannot be JSON: %w", p.Name, err)
	}
	spec.Config = raw
	return spec, nil
}

// NamedPlugins are the configured plugins with these names, or all of them.
func (srv *Server) NamedPlugins(names []string) ([]config.Plugin, error) {
	if len(names) == 0 {
		return srv.Config.AskedPlugins(), nil
	}
	var entries []config.Plugin
	for _, name := range names {
		i := slices.IndexFunc(srv.Config.AskedPlugins(), func(p config.Plugin) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no plugin %q is configured; `%s` lists them", show.Clipped(name), srv.Screen.Hint("plugin list"))
		}
		entries = append(entries, srv.Config.AskedPlugins()[i])
	}
	return entries, nil
}
