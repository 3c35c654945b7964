package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// noPlugin, as a --plugin, leaves all plugins out.
const noPlugin = "none"

// AddPlugins puts the command line's plugins before the configured ones, since the first that has
// an opinion wins; "none" removes those before it and the configured ones.
func (c *Config) AddPlugins(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	var named []Plugin
	rest := slices.Clone(c.AskedPlugins())
	for _, line := range lines {
		if line == noPlugin {
			named, rest = nil, nil
			continue
		}
		if i := slices.IndexFunc(rest, func(p Plugin) bool { return p.Name == line && p.IsBuiltin() }); i >= 0 {
			named, rest = append(named, rest[i]), slices.Delete(rest, i, i+1)
			continue
		}
		entry, err := namedPlugin(line, append(slices.Clone(named), rest...))
		if err != nil {
			return err
		}
		named = append(named, entry)
	}
	c.Plugins = append(append([]Plugin{}, named...), rest...)
	if p := PluginProblem(c.Plugins); p != nil {
		return fmt.Errorf("--plugin: %s", p.Text)
	}
	return nil
}

// namedPlugin is the plugin that one --plugin names: a builtin one's name, a command line, or a
// name, "=" and a command line. others are the plugins that exist already.
func namedPlugin(line string, others []Plugin) (Plugin, error) {
	if IsBuiltinName(line) {
		return Plugin{Name: line}, nil
	}
	name, command, ok := strings.Cut(line, "=")
	if !ok || !yamlfile.EntryName.MatchString(name) {
		name, command = "", line
	}
	words, err := splitWords(command)
	if err != nil {
		return Plugin{}, fmt.Errorf("--plugin %q: %w", line, err)
	}
	if len(words) == 0 {
		return Plugin{}, fmt.Errorf("--plugin: a command line is needed, or %q", noPlugin)
	}
	if name == "" {
		name = freeName(words[0], others)
	}
	return Plugin{Name: name, Command: words}, nil
}

// AskedPlugins are the configured plugins, or the default ones.
func (c *Config) AskedPlugins() []Plugin {
	if c.Plugins == nil {
		return defaultPlugins
	}
	return c.Plugins
}

// freeName makes an unused plugin name from a program's name.
func freeName(program string, others []Plugin) string {
	base := NameOfProgram(program)
	taken := map[string]bool{}
	for _, p := range others {
		taken[p.Name] = true
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}

// NameOfProgram makes a plugin's name from its program's.
func NameOfProgram(program string) string {
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

// AnswerDeadline is how long a plugin may take for one answer by default.
const AnswerDeadline = 2 * time.Second

// Has reports whether a plugin with the same command is configured.
func (c *Config) Has(p Plugin) bool {
	return slices.ContainsFunc(c.AskedPlugins(), func(q Plugin) bool { return q.Name == p.Name && slices.Equal(q.Command, p.Command) })
}

// AnswerWithin is how long the plugin may take for one answer.
func (p Plugin) AnswerWithin() time.Duration {
	if d, err := time.ParseDuration(p.Deadline); err == nil {
		return d
	}
	return AnswerDeadline
}

// FolderOf is the part of the entry by which its folder is found.
func FolderOf(p Plugin) host.Spec {
	return host.Spec{Name: p.Name, Command: p.Command, Folder: p.Folder}
}
