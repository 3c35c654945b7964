package pi

import "os"

// inherited are the variables that Pi gets from our environment, beside those of Config.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"}

// usualKeys are what Pi finds its keys by where nothing else is configured. The commands
// that its model runs see them as well, as they do without us.
var usualKeys = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"}

// quiet keeps Pi from asking its own servers anything when it starts.
var quiet = []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}

// environment is what Pi gets, and the values in it that may be secret.
func (c Config) environment() (all, secrets []string) {
	names := c.Env
	if names == nil {
		names = usualKeys
	}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			all, secrets = append(all, name+"="+value), append(secrets, value)
		}
	}
	return append(append(all, quiet...), "PI_CODING_AGENT_DIR="+c.Folder), secrets
}
