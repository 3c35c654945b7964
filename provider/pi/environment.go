package pi

import (
	"maps"
	"os"
	"slices"
)

// inherited are the variables that Pi gets from our environment, beside those of Config.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"}

// usualKeys are what Pi finds the keys of its providers by where nothing else is configured.
// The commands that its model runs see them as well, as they do without us.
var usualKeys = map[string]string{
	"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "openrouter": "OPENROUTER_API_KEY",
}

// passed are the names of the variables that Pi gets beside the inherited ones.
func (c Config) passed() []string {
	if c.Env == nil {
		return slices.Sorted(maps.Values(usualKeys))
	}
	return c.Env
}

// keyVariable is the variable that Pi would find the provider's key in, if it gets it.
func (c Config) keyVariable(provider string) string {
	if name := usualKeys[provider]; slices.Contains(c.passed(), name) {
		return name
	}
	return ""
}

// quiet keeps Pi from asking its own servers anything when it starts.
var quiet = []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}

// environment is what Pi gets, and the values in it that may be secret.
func (c Config) environment() (all, secrets []string) {
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	for _, name := range c.passed() {
		if value, ok := os.LookupEnv(name); ok {
			all, secrets = append(all, name+"="+value), append(secrets, value)
		}
	}
	return append(append(all, quiet...), "PI_CODING_AGENT_DIR="+c.Folder), secrets
}
