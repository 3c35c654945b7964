package pi

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// inherited are the variables that Pi gets from our environment, besides those of Config.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"}

// proxies are the variables by which Pi finds a proxy on the way to its providers, and exceptions
// those that say which hosts are asked without one.
var (
	proxies    = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}
	exceptions = []string{"NO_PROXY", "no_proxy"}
)

// directly are the exceptions of env, and this machine, because observed requests go there first.
func directly(env []string) []string {
	var list []string
	for _, name := range exceptions {
		value := "127.0.0.1"
		for _, variable := range env {
			if others, ok := strings.CutPrefix(variable, name+"="); ok && others != "" {
				value += "," + others
			}
		}
		list = append(list, name+"="+value)
	}
	return list
}

// usualKeys are the variables in which Pi finds the keys of its providers if nothing else is
// configured. The commands that its model runs see them as well, as they do without us.
var usualKeys = map[string]string{
	"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "openrouter": "OPENROUTER_API_KEY",
}

// passed are the names of the variables that Pi gets besides the inherited ones.
func (c Config) passed() []string {
	if c.Env == nil {
		return slices.Sorted(maps.Values(usualKeys))
	}
	return c.Env
}

// keyVariable is the variable in which Pi would find the provider's key, if Pi gets that variable.
func (c Config) keyVariable(provider string) string {
	if name := usualKeys[provider]; slices.Contains(c.passed(), name) {
		return name
	}
	return ""
}

// quiet keeps Pi from contacting its own servers when it starts.
var quiet = []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}

// environment is the environment that Pi gets, and the values in it that may be secret.
func (c Config) environment() (all, secrets []string) {
	for _, name := range slices.Concat(inherited, exceptions) {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	for _, name := range proxies {
		if value := os.Getenv(name); value != "" {
			all = append(all, name+"="+value)
			if proxy, err := observe.ParseProxy(value); err == nil {
				secrets = append(secrets, observe.ProxySecrets(proxy)...)
			}
		}
	}
	for _, name := range c.passed() {
		if value, ok := os.LookupEnv(name); ok {
			all, secrets = append(all, name+"="+value), append(secrets, value)
		}
	}
	return append(append(all, quiet...), "PI_CODING_AGENT_DIR="+c.Folder), secrets
}
