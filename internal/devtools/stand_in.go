package devtools

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
)

// StandIn is the plugin that a command line means: a configured or builtin one by its
// name, or a command with the settings of the configured one that it stands in for.
func StandIn(c *config.Config, name string, command []string) (config.Plugin, error) {
	if len(command) == 0 {
		return config.Plugin{}, errors.New("which plugin? Give its name in the config, or its command")
	}
	find := func(name string) (config.Plugin, bool) {
		for _, p := range c.AskedPlugins() {
			if p.Name == name {
				return p, true
			}
		}
		return config.Plugin{Name: name}, config.IsBuiltinName(name)
	}
	if p, ok := find(command[0]); ok && len(command) == 1 && (name == "" || name == p.Name) {
		return p, nil
	}
	if name == "" {
		name = config.NameOfProgram(command[0])
	}
	p, _ := find(name)
	p.Name, p.Command, p.Address, p.TLS = name, command, "", nil
	if problem := config.PluginProblem([]config.Plugin{p}); problem != nil {
		return p, errors.New(problem.Text)
	}
	return p, nil
}

// OtherPlugins are the other configured plugins whose votes count.
func OtherPlugins(c *config.Config, name string) []string {
	var names []string
	for _, p := range c.AskedPlugins() {
		if p.Name != name && !p.Shadow {
			names = append(names, p.Name)
		}
	}
	return names
}

// rehearsal is how a plugin runs when its answers have no effect: without the
// environment and grants it was given, and with a temporary state folder.
func rehearsal(srv *server.Server, p config.Plugin, state string) (host.Spec, error) {
	if err := srv.OpenLock(); err != nil {
		return host.Spec{}, err
	}
	p.Env, p.Transcript = nil, ""
	spec, err := server.PluginSpec(p, os.Getenv)
	if err != nil || p.IsRemote() {
		return spec, err
	}
	spec.Env = []string{"XDG_STATE_HOME=" + state, "MULLIGAN_PLUGIN_STATE=" + state, "MULLIGAN_DRY_RUN=1"}
	if p.HasFolder() && srv.Config.Has(p) {
		spec.Pin = srv.Lock.Plugins[p.Name].SHA256
	}
	return spec, nil
}

// Asker starts a plugin and returns a function that asks it.
func Asker(ctx context.Context, srv *server.Server, entry config.Plugin, state string) (func(context.Context, hooks.RunError) recovery.Vote, error) {
	spec, err := rehearsal(srv, entry, state)
	if err != nil {
		return nil, err
	}
	spec.Restart = host.RestartPolicy{Max: config.MaxRestarts, First: shortPause, Most: shortPause}
	spec.Breaker = host.BreakerPolicy{After: config.MaxBreakAfter, Open: shortPause, Most: shortPause}
	srv.Plugins = host.New(host.WithLogger(srv.Logger()))
	if err := srv.Plugins.Add(spec); err != nil {
		return nil, err
	}
	if err := srv.Plugins.Start(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context, e hooks.RunError) (vote recovery.Vote) {
		e.DryRun = true
		hooks.Dispatch(ctx, srv.Plugins.Hooks(), e, hooks.Deadlines{Each: entry.AnswerWithin()}, func(v recovery.Vote) { vote = v })
		return vote
	}, nil
}

// shortPause is how long a failing plugin is left alone during a replay, which tests
// each failure by itself.
const shortPause = 100 * time.Millisecond
