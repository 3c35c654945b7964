package recipe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// started is how a program with arguments is started, with its environment variables by name.
func started(t *testing.T, environ []string, program ...string) (args []string, env map[string]string, dir string) {
	t.Helper()
	dir = t.TempDir()
	start, err := For(program, environ, Door{URL: "http://127.0.0.1:1", Token: "the-token", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	env = map[string]string{}
	for _, v := range start.Env {
		name, value, _ := strings.Cut(v, "=")
		if _, twice := env[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		env[name] = value
	}
	for _, arg := range start.Program {
		if strings.Contains(arg, "the-token") {
			t.Errorf("everybody on the machine can read the token: %s", arg)
		}
	}
	return start.Program, env, dir
}

// theirs is an environment that points elsewhere.
var theirs = []string{
	"HOME=/home/ada", "PATH=/bin", "ANTHROPIC_API_KEY=sk-ant-theirs", "ANTHROPIC_AUTH_TOKEN=theirs", "OPENAI_API_KEY=sk-theirs", "OPENAI_BASE_URL=https://elsewhere.example/v1",
	"GEMINI_API_KEY=theirs", "GOOGLE_API_KEY=theirs", "CLAUDE_CODE_USE_BEDROCK=1", "AIDER_OPENAI_API_KEY=theirs",
}

// TestApp: a program that reads the variables of the providers' libraries needs nothing else.
func TestApp(t *testing.T) {
	args, env, _ := started(t, theirs, "python", "app.py", "claude")
	if !slices.Equal(args, []string{"python", "app.py", "claude"}) {
		t.Errorf("%q", args)
	}
	want := map[string]string{
		"HOME": "/home/ada", "PATH": "/bin", "CLAUDE_CODE_USE_BEDROCK": "1", "AIDER_OPENAI_API_KEY": "theirs",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_BASE": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "the-token",
		"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_BASE": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "the-token",
		"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1", "GEMINI_API_KEY": "the-token",
	}
	if !reflect.DeepEqual(env, want) {
		t.Errorf("%q", env)
	}
}

// TestClaude: Claude Code gets a token that it does not ask about, and settings that override its
// user's.
func TestClaude(t *testing.T) {
	args, env, dir := started(t, theirs, "/usr/bin/claude", "-p", "hello")
	file := filepath.Join(dir, "claude-settings.json")
	if !slices.Equal(args, []string{"/usr/bin/claude", "--settings", file, "-p", "hello"}) {
		t.Errorf("%q", args)
	}
	for name, want := range map[string]string{"ANTHROPIC_AUTH_TOKEN": "the-token", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "", "CLAUDE_CODE_USE_BEDROCK": ""} {
		if got, there := env[name]; got != want || there != (want != "") {
			t.Errorf("%s is %q", name, got)
		}
	}
	text, err := os.ReadFile(file)
	var settings struct{ Env map[string]string }
	if err != nil || json.Unmarshal(text, &settings) != nil || settings.Env["ANTHROPIC_BASE_URL"] != "http://127.0.0.1:1" || settings.Env["ANTHROPIC_AUTH_TOKEN"] != "the-token" {
		t.Errorf("%s, %v", text, err)
	}
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", about, err)
	}
	for _, own := range [][]string{{"--settings", "mine.json"}, {"--settings=mine.json"}} {
		if args, _, _ := started(t, theirs, append([]string{"claude"}, own...)...); !slices.Equal(args[1:], own) {
			t.Errorf("%q", args)
		}
	}
}

// TestCodex: Codex gets a provider of its own on the command line, and its config.toml is not
// changed.
func TestCodex(t *testing.T) {
	args, env, _ := started(t, theirs, "codex", "exec", "hello")
	want := []string{
		"codex", "-c", `model_provider="mulligan"`,
		"-c", `model_providers.mulligan={name="Mulligan",base_url="http://127.0.0.1:1/v1",wire_api="responses",env_key="MULLIGAN_PROXY_TOKEN"}`, "exec", "hello",
	}
	if !slices.Equal(args, want) || env["MULLIGAN_PROXY_TOKEN"] != "the-token" {
		t.Errorf("%q, %q", args, env["MULLIGAN_PROXY_TOKEN"])
	}
}

// TestOpencode: opencode's providers are redirected to the proxy, and its user's other settings for
// them stay.
func TestOpencode(t *testing.T) {
	own := `OPENCODE_CONFIG_CONTENT={"theme":"light","provider":{"openai":{"options":{"timeout":5,"apiKey":"theirs"}},"mine":{"npm":"x"}}}`
	_, env, _ := started(t, append(theirs, own), "opencode", "run", "hello")
	want := `{"provider":{` +
		`"anthropic":{"options":{"apiKey":"the-token","baseURL":"http://127.0.0.1:1/v1"}},` +
		`"google":{"options":{"apiKey":"the-token","baseURL":"http://127.0.0.1:1/v1beta"}},` +
		`"mine":{"npm":"x"},` +
		`"openai":{"options":{"apiKey":"the-token","baseURL":"http://127.0.0.1:1/v1","timeout":5}}},"theme":"light"}`
	if got := env["OPENCODE_CONFIG_CONTENT"]; got != want {
		t.Errorf("%s", got)
	}
	_, err := For([]string{"opencode"}, []string{"OPENCODE_CONFIG_CONTENT={ // mine\n}"}, Door{URL: "http://127.0.0.1:1", Token: "the-token"})
	if err == nil || !strings.Contains(err.Error(), "OPENCODE_CONFIG") {
		t.Error(err)
	}
}

// TestAider: aider's own variables override what it finds in .env files.
func TestAider(t *testing.T) {
	args, env, _ := started(t, theirs, "aider", "--message", "hello")
	if !slices.Equal(args, []string{"aider", "--message", "hello"}) {
		t.Errorf("%q", args)
	}
	for name, want := range map[string]string{
		"AIDER_OPENAI_API_BASE": "http://127.0.0.1:1/v1", "AIDER_OPENAI_API_KEY": "the-token", "AIDER_ANTHROPIC_API_KEY": "the-token", "ANTHROPIC_API_BASE": "http://127.0.0.1:1",
	} {
		if env[name] != want {
			t.Errorf("%s is %q", name, env[name])
		}
	}
}

// TestNames: a program is recognized by every name that starts it, also by a package runner.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		program string
		row     string // the row's first name; "" = none
		at      int
	}{
		{"claude", "claude", 0},
		{"/opt/claude.exe --resume", "claude", 0},
		{"npx -y @anthropic-ai/claude-code -p hi", "claude", 2},
		{"npx @openai/codex@0.169.0 exec", "codex", 1},
		{"bunx opencode-ai@latest", "opencode", 1},
		{"uvx --quiet aider-chat", "aider", 2},
		{"npx -y", "", 0},
		{"npx", "", 0},
		{"python claude", "", 0},
		{"@", "", 0},
	} {
		at, r := find(strings.Fields(c.program))
		name := ""
		if len(r.names) > 0 {
			name = r.names[0]
		}
		if name != c.row || at != c.at {
			t.Errorf("%s: %q at %d", c.program, name, at)
		}
	}
	if _, r := find(nil); r.names != nil {
		t.Error("no program has a row")
	}
}

// TestEveryRowHasItsTest: each row has a test with its name.
func TestEveryRowHasItsTest(t *testing.T) {
	text, err := os.ReadFile("recipe_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		if test := "func Test" + strings.ToUpper(r.names[0][:1]) + r.names[0][1:] + "("; !strings.Contains(string(text), test) {
			t.Errorf("%s has no %s", r.names[0], test)
		}
	}
}
