package recipe

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is what one program needs in addition to the common variables.
type row struct {
	names []string // as it is started, and as registries call it; the first is the usual one
	// env changes the variables in set; look gives those that the program would have had.
	env func(set map[string]string, look func(name string) string, door Door) error
	// args are put between the program's name and its own arguments, which are own.
	args func(door Door, own []string) ([]string, error)
}

// table has a row for each program that needs more than the common variables. "python app.py" and
// whatever else is built on the providers' own libraries has none.
var table = []row{
	{names: []string{"claude", "claude-code"}, env: claudeEnv, args: claudeArgs},
	{names: []string{"codex"}, env: codexEnv, args: codexArgs},
	{names: []string{"opencode", "opencode-ai"}, env: opencodeEnv},
	{names: []string{"aider", "aider-chat"}, env: aiderEnv},
}

// common are the variables that the providers' libraries read, and what is built on them.
func common(door Door) map[string]string {
	return map[string]string{
		"ANTHROPIC_BASE_URL": door.URL, "ANTHROPIC_API_BASE": door.URL, "ANTHROPIC_API_KEY": door.Token, "ANTHROPIC_AUTH_TOKEN": "",
		"OPENAI_BASE_URL": door.URL + "/v1", "OPENAI_API_BASE": door.URL + "/v1", "OPENAI_API_KEY": door.Token,
		"GOOGLE_GEMINI_BASE_URL": door.URL, "GEMINI_API_KEY": door.Token, "GOOGLE_API_KEY": "",
	}
}

// claudeEnv sets ANTHROPIC_AUTH_TOKEN: Claude Code asks before it uses a new ANTHROPIC_API_KEY,
// and a token is new each time. It ignores the base URL if somebody has chosen another cloud.
func claudeEnv(set map[string]string, _ func(string) string, door Door) error {
	set["ANTHROPIC_API_KEY"], set["ANTHROPIC_AUTH_TOKEN"] = "", door.Token
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		set[name] = ""
	}
	return nil
}

// claudeArgs repeat the variables as settings: the env of somebody's settings.json overrides the
// environment, and that of a --settings file overrides both.
func claudeArgs(door Door, own []string) ([]string, error) {
	if slices.ContainsFunc(own, func(arg string) bool { return arg == "--settings" || strings.HasPrefix(arg, "--settings=") }) {
		return nil, nil // it takes one; whoever brings one knows what is in it
	}
	settings, err := json.Marshal(map[string]any{"env": map[string]string{
		"ANTHROPIC_BASE_URL": door.URL, "ANTHROPIC_AUTH_TOKEN": door.Token, "ANTHROPIC_API_KEY": "",
	}})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(door.Dir, "claude-settings.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		return nil, fmt.Errorf("tell Claude Code where the proxy is: %w", err)
	}
	return []string{"--settings", file}, nil
}

// codexKey is the variable that Codex reads the token from.
const codexKey = "MULLIGAN_PROXY_TOKEN"

func codexEnv(set map[string]string, _ func(string) string, door Door) error {
	set[codexKey] = door.Token
	return nil
}

// codexArgs configure the provider with -c: Codex has its providers only in config.toml, and
// reads no variable for their address. -c overrides that file without changing it.
func codexArgs(door Door, _ []string) ([]string, error) {
	return []string{
		"-c", `model_provider="mulligan"`,
		"-c", fmt.Sprintf(`model_providers.mulligan={name="Mulligan",base_url=%q,wire_api="responses",env_key=%q}`, door.URL+"/v1", codexKey),
	}, nil
}

// opencodeEnv adds to OPENCODE_CONFIG_CONTENT, which overrides the configurations that opencode
// finds. Its current contents are kept, except for who is asked.
func opencodeEnv(set map[string]string, look func(string) string, door Door) error {
	const variable = "OPENCODE_CONFIG_CONTENT"
	config := map[string]any{}
	if own := look(variable); own != "" {
		if err := json.Unmarshal([]byte(own), &config); err != nil {
			return fmt.Errorf("%s is not JSON: %w; put it into a file, and name that in OPENCODE_CONFIG", variable, err)
		}
	}
	providers := within(config, "provider")
	for name, path := range map[string]string{"anthropic": "/v1", "openai": "/v1", "google": "/v1beta"} {
		options := within(within(providers, name), "options")
		options["baseURL"], options["apiKey"] = door.URL+path, door.Token
	}
	text, err := json.Marshal(config)
	set[variable] = string(text)
	return err
}

// within is the object of that name in another; it is created if missing.
func within(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}

// aiderEnv sets aider's own variables, which override .env files, which in turn override the
// environment. Its names for models of Anthropic and OpenAI depend on them, too.
func aiderEnv(set map[string]string, _ func(string) string, door Door) error {
	set["AIDER_OPENAI_API_BASE"] = door.URL + "/v1"
	set["AIDER_OPENAI_API_KEY"], set["AIDER_ANTHROPIC_API_KEY"] = door.Token, door.Token
	return nil
}
