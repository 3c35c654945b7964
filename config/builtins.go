package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/plugins/rules"
)

// The names of the plugins that come with the program.
const (
	AutoRecover = "auto-recover"
	Rules       = rules.Name
)

// builtins are the names of the plugins that this program contains.
var builtins = []string{AutoRecover, Rules}

// BuiltinNames lists the names of the builtin plugins for people, separated by commas.
func BuiltinNames() string { return strings.Join(builtins, ", ") }

// IsBuiltinName reports whether this program contains a plugin with that name.
func IsBuiltinName(name string) bool { return slices.Contains(builtins, name) }

// IsBuiltin reports whether the entry names a plugin that this program contains.
func (p Plugin) IsBuiltin() bool {
	return len(p.Command) == 0 && !p.IsRemote() && IsBuiltinName(p.Name)
}

// checkRules finds the file of rules beside the config and reads it, so that a mistake in it is
// shown now, and not when a run needs the rules.
func (c *Config) checkRules(source []byte) error {
	for i, p := range c.Plugins {
		if p.Name != Rules || !p.IsBuiltin() {
			continue
		}
		file, named := p.Config["file"].(string)
		if named && !filepath.IsAbs(file) {
			p.Config["file"] = filepath.Join(filepath.Dir(c.Path), file)
		}
		var err error
		if inline := p.Config["rules"] != nil && len(p.Config) == 1; inline {
			_, err = rules.ParseAt(c.Path, source, fmt.Sprintf("$.plugins[%d].config", i))
		} else {
			err = checkRulesConfig(p.Config)
		}
		if err != nil {
			return exit.Usagef("plugin %s: %w", p.Name, err)
		}
	}
	return nil
}

func checkRulesConfig(config map[string]any) error {
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	_, err = rules.ParseConfig(raw)
	return err
}
