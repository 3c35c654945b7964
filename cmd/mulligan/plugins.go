package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
)

// noPlugin as a --plugin leaves all plugins out.
const noPlugin = "none"

// pluginUsage is what --plugin does, wherever it is a flag.
const pluginUsage = "the command line of one more recovery plugin, asked before the configured ones; NAME=COMMAND names it (repeatable, in order); none = no plugin at all"

// addPlugins puts what the command line names before the configured plugins, since the
// first that has an opinion wins; "none" removes those before it and the configured ones.
func (c *config) addPlugins(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	var named []pluginEntry
	rest := slices.Clone(c.plugins())
	for _, line := range lines {
		if line == noPlugin {
			named, rest = nil, nil
			continue
		}
		if i := slices.IndexFunc(rest, func(p pluginEntry) bool { return p.Name == line && p.isBuiltin() }); i >= 0 {
			named, rest = append(named, rest[i]), slices.Delete(rest, i, i+1)
			continue
		}
		entry, err := namedPlugin(line, append(slices.Clone(named), rest...))
		if err != nil {
			return err
		}
		named = append(named, entry)
	}
	c.Plugins = append(append([]pluginEntry{}, named...), rest...)
	if p := pluginProblem(c.Plugins); p != nil {
		return fmt.Errorf("--plugin: %s", p.text)
	}
	return nil
}

// namedPlugin is what one --plugin says, beside other plugins: a builtin one's name, a
// command line, or a name for it, "=" and the command line.
func namedPlugin(line string, others []pluginEntry) (pluginEntry, error) {
	if builtins[line] != nil {
		return pluginEntry{Name: line}, nil
	}
	name, command, ok := strings.Cut(line, "=")
	if !ok || !entryName.MatchString(name) {
		name, command = "", line
	}
	words, err := splitWords(command)
	if err != nil {
		return pluginEntry{}, fmt.Errorf("--plugin %q: %w", line, err)
	}
	if len(words) == 0 {
		return pluginEntry{}, fmt.Errorf("--plugin: a command line is needed, or %q", noPlugin)
	}
	if name == "" {
		name = freeName(words[0], others)
	}
	return pluginEntry{Name: name, Command: words}, nil
}

// plugins is what is configured, or the default.
func (c *config) plugins() []pluginEntry {
	if c.Plugins == nil {
		return defaultPlugins
	}
	return c.Plugins
}

// freeName makes a name of a program's that no other plugin has.
func freeName(program string, others []pluginEntry) string {
	base := nameOfProgram(program)
	taken := map[string]bool{}
	for _, p := range others {
		taken[p.Name] = true
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + itoa(n)
	}
	return name
}

// nameOfProgram makes a name for a plugin of its program's.
func nameOfProgram(program string) string {
	base := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._-", r) {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(program)))
	base = strings.TrimLeft(base, "._-")
	if base == "" {
		return "plugin"
	}
	return base
}

// splitWords splits a command line at spaces; quotes and backslashes keep them.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("a quote is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// answerDeadline is how long a plugin may take for one answer, unless it is configured.
const answerDeadline = 2 * time.Second

// hookDeadline is how long all plugins together may take over one failure.
const hookDeadline = 5 * time.Second

// slack stretches the time that plugins have: in tests, which start many programs at once
// on machines that are busy.
var slack time.Duration = 1

// addHost makes the configured plugins ready to be started.
func (a *app) addHost(ctx context.Context) error { return a.hostFor(ctx, a.config.plugins()) }

func (a *app) hostFor(ctx context.Context, entries []pluginEntry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := a.openLock(); err != nil {
		return err
	}
	a.plugins = host.New(host.WithLogger(a.logger()), host.WithStateDir(a.pluginState()))
	for _, p := range entries {
		if a.useDev(ctx, p) {
			continue
		}
		spec, err := a.spec(p)
		if err != nil {
			return err
		}
		if err := a.plugins.Add(spec); err != nil {
			return fmt.Errorf("plugin %s: %w", p.Name, err)
		}
	}
	return nil
}

// spec is how the host runs a plugin: what was pinned and granted holds for the
// configured command, not for one that stands in for it.
func (a *app) spec(p pluginEntry) (spec host.Spec, err error) {
	if err := a.openLock(); err != nil {
		return spec, err
	}
	spec, err = pluginSpec(p, os.Getenv)
	if err != nil || !p.hasFolder() || !a.config.has(p) {
		return spec, err
	}
	a.give(&spec, p)
	spec.Pin = a.lock.Plugins[p.Name].SHA256
	return spec, nil
}

// openLock reads the lock once.
func (a *app) openLock() (err error) {
	if a.lock == nil {
		a.lock, err = readLock(a.config.lockPath())
	}
	return err
}

// has reports whether a plugin is configured with the command that it has.
func (c *config) has(p pluginEntry) bool {
	return slices.ContainsFunc(c.plugins(), func(q pluginEntry) bool { return q.Name == p.Name && slices.Equal(q.Command, p.Command) })
}

// Labels by which plugins are marked in what hosts tell.
const (
	labelShadow = "shadow"
	labelDev    = "dev"
)

// pluginState is where hosts tell other processes how their plugins are.
func (a *app) pluginState() string { return filepath.Join(a.dir, "plugins") }

// hooks are the plugins as what a runner asks, in the configured order.
func (a *app) hooks() []hooks.Named {
	hosted := a.plugins.Hooks()
	var list []hooks.Named
	for _, p := range a.config.plugins() {
		named := hooks.Named{Name: p.Name, Hook: a.developed[p.Name], Shadow: p.Shadow}
		if i := slices.IndexFunc(hosted, func(h hooks.Named) bool { return h.Name == p.Name }); i >= 0 {
			named.Hook = hosted[i].Hook
		}
		if named.Hook != nil {
			list = append(list, named)
		}
	}
	return list
}

// useDev has a plugin answered for by "plugin dev", where that runs one of its name.
func (a *app) useDev(ctx context.Context, p pluginEntry) bool {
	link, err := a.devLink(ctx, p.Name)
	if err != nil {
		a.screen.line(a.screen.ink.amber("! ") + oneLine("no dev plugin "+p.Name+" is used: "+err.Error()))
	}
	if link == nil {
		return false
	}
	if a.developed == nil {
		a.developed = map[string]hooks.Hook{}
	}
	a.developed[p.Name] = newDevHook(link, p.deadline())
	instead := "the builtin one"
	if !p.isBuiltin() {
		instead = orElse(p.Address, strings.Join(p.Command, " "))
	}
	a.screen.line(oneLine(fmt.Sprintf("Using dev plugin %s (process %d) instead of %s.", p.Name, link.PID, instead)))
	return true
}

// startPlugins starts the plugins and waits for them. One that does not start is
// no error: its status says why, and it is tried again when it is asked.
func (a *app) startPlugins(ctx context.Context) error {
	if err := a.addHost(ctx); err != nil || a.plugins == nil {
		return err
	}
	a.start(ctx)
	return nil
}

// start starts the plugins, and says which of them may not run.
func (a *app) start(ctx context.Context) {
	err := a.plugins.Start(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	a.logger().Warn("plugins", "err", err)
	if _, breached := errors.AsType[*host.PinError](err); breached {
		a.tellBreaches()
	}
}

// warmPlugins starts the plugins beside the first model call.
func (a *app) warmPlugins(ctx context.Context) error {
	if err := a.addHost(ctx); err != nil || a.plugins == nil {
		return err
	}
	a.warming.Go(func() { a.start(ctx) })
	return nil
}

// hookDeadlines lets every plugin have its own time.
func (c *config) hookDeadlines() hooks.Deadlines {
	most := answerDeadline
	for _, p := range c.plugins() {
		most = max(most, p.deadline())
	}
	return hooks.Deadlines{Each: slack * most, All: slack * hookDeadline}
}

func (p pluginEntry) deadline() time.Duration {
	if d, err := time.ParseDuration(p.Deadline); err == nil {
		return d
	}
	return answerDeadline
}

func pluginSpec(p pluginEntry, env func(string) string) (host.Spec, error) {
	command := p.Command
	if len(command) == 0 && !p.isRemote() {
		self, err := os.Executable()
		if err != nil {
			return host.Spec{}, fmt.Errorf("find this program, to run its builtin plugin: %w", err)
		}
		command = []string{self, "plugin", "serve", p.Name}
	}
	spec := host.Spec{
		Name: p.Name, Command: command, Address: p.Address, TLS: p.TLS.files(), Folder: p.Folder, Deadline: slack * p.deadline(),
		Transcript: p.Transcript == transcriptMessages,
		Late:       true, // a plugin that is missing has no say, and its status says why; the run goes on
	}
	spec.Restart, spec.Breaker = p.policies()
	if p.Shadow {
		spec.Labels = map[string]string{labelShadow: "true"}
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
		return host.Spec{}, usagef("plugin %s: its config cannot be JSON: %w", p.Name, err)
	}
	spec.Config = raw
	return spec, nil
}
