package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/plugins/autorecover/serve"
	"github.com/mulligan-run/mulligan/plugins/rules"
)

// builtins are the plugins that this program itself can be, by their names.
var builtins = map[string]func(){builtinAutoRecover: serve.Serve, builtinRules: rules.Serve}

const (
	builtinAutoRecover = "auto-recover"
	builtinRules       = rules.Name
)

// builtinNames lists them for people.
func builtinNames() string { return strings.Join(slices.Sorted(maps.Keys(builtins)), ", ") }

// isBuiltin reports whether the entry names a plugin that this program can be.
func (p pluginEntry) isBuiltin() bool {
	return len(p.Command) == 0 && !p.isRemote() && builtins[p.Name] != nil
}

// checkRules finds the rules' file beside the config, and reads the rules so that a
// mistake is shown where it is, before a run is without them.
func (c *config) checkRules(source []byte) error {
	for i, p := range c.Plugins {
		if p.Name != builtinRules || !p.isBuiltin() {
			continue
		}
		file, named := p.Config["file"].(string)
		if named && !filepath.IsAbs(file) {
			p.Config["file"] = filepath.Join(filepath.Dir(c.path), file)
		}
		var err error
		if inline := p.Config["rules"] != nil && len(p.Config) == 1; inline {
			_, err = rules.ParseAt(c.path, source, fmt.Sprintf("$.plugins[%d].config", i))
		} else {
			err = checkRulesConfig(p.Config)
		}
		if err != nil {
			return usagef("plugin %s: %w", p.Name, err)
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
