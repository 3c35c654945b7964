package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/near"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Mistyped says, a sentence each, which variables of an environment were probably meant to be settings
// and are not, so that nothing reads them. Only what is like a setting counts: the prefix is free for
// what else people keep there, and a variable that the file names is one of these. A plugin's process
// gets variables of the host's, and is told nothing.
func (c *Config) Mistyped(environ []string) []string {
	var settings []string
	for _, v := range c.variables() {
		settings = append(settings, strings.TrimPrefix(v.name, envPrefix))
	}
	others := []string{"CONFIG", "DEBUG", "TOKEN", "DRY_RUN"} // of this program, of its clients and of its plugins
	var said []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, envPrefix)
		switch {
		case word == "PLUGIN" && ours:
			return nil
		case !ours || value == "" || slices.Contains(settings, word) || slices.Contains(others, word):
			continue
		}
		if meant := near.Word(word, slices.Concat(settings, others[:1])); meant != "" && !c.names(name) {
			said = append(said, fmt.Sprintf("environment %s: there is no such setting, and it is ignored; did you mean %s%s?", name, envPrefix, meant))
		}
	}
	return said
}

// names reports whether the file has a word in it.
func (c *Config) names(word string) bool {
	if c.Path == "" {
		return false
	}
	source, err := yamlfile.Read(c.Path)
	return err == nil && bytes.Contains(source, []byte(word))
}
