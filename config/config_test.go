package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
)

const wholeConfig = `
model: work/claude-sonnet-4-5
fallbacks: [openai/gpt-5.2, local/qwen3]
auto_recover: true
timeouts:
  first_event: 45s
  idle: 0
  run: 2h
max_retries: 2
max_rounds: 5
budget: {tokens: 100000, dollars: 1.5}
providers:
  work:
    type: anthropic
    key_env: WORK_KEY
    models:
      claude-sonnet-4-5: {context_tokens: 200000, price: {input: 3, output: 15}}
  local: {type: openai, base_url: http://127.0.0.1:11434/v1, allow_private: true}
plugins:
  - auto-recover
  - name: mine
    command: [./mine, -v]
    env: [MINE_TOKEN]
    config: {strict: true}
    deadline: 500ms
    folder: ./mine-folder
    shadow: true
    restart: {max: 5, window: 1m, first: 20ms, most: 2s}
    breaker: {after: 2, open: 30s, most: 5m}
`

func TestParseConfig(t *testing.T) {
	c, err := Parse([]byte(wholeConfig))
	if err != nil {
		t.Fatal(err)
	}
	two, five := 2, 5
	want := &Config{
		Model: "work/claude-sonnet-4-5", Fallbacks: []string{"openai/gpt-5.2", "local/qwen3"}, AutoRecover: true,
		Timeouts: Timeouts{"first_event": "45s", "idle": "0", "run": "2h"}, MaxRetries: &two, MaxRounds: &five,
		Budget: Budget{Tokens: 100000, Dollars: 1.5},
		Models: []string{"work/claude-sonnet-4-5"},
		Providers: map[string]Provider{
			"work": {Type: "anthropic", KeyEnv: "WORK_KEY", Models: map[string]Model{
				"claude-sonnet-4-5": {ContextTokens: 200000, Price: &Price{Input: 3, Output: 15}},
			}},
			"local": {Type: "openai", BaseURL: "http://127.0.0.1:11434/v1", AllowPrivate: true},
		},
		Plugins: []Plugin{
			{Name: "auto-recover"},
			{
				Name: "mine", Command: []string{"./mine", "-v"}, Env: []string{"MINE_TOKEN"}, Config: map[string]any{"strict": true}, Deadline: "500ms",
				Folder: "./mine-folder", Shadow: true, Restart: &Restart{Max: &five, Window: "1m", First: "20ms", Most: "2s"},
				Breaker: &Breaker{After: &two, Open: "30s", Most: "5m"},
			},
		},
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
	restart, breaker := c.Plugins[1].Policies()
	if restart != (host.RestartPolicy{Max: 5, Window: time.Minute, First: 20 * time.Millisecond, Most: 2 * time.Second}) ||
		breaker != (host.BreakerPolicy{After: 2, Open: 30 * time.Second, Most: 5 * time.Minute}) {
		t.Errorf("policies: %+v, %+v", restart, breaker)
	}
	p := recovery.DefaultPolicy()
	c.Policy(&p)
	if got := p.Prices["work/claude-sonnet-4-5"]; got != (recovery.Price{Input: 3_000_000, Output: 15_000_000}) || p.Budget.Microdollars != 1_500_000 {
		t.Errorf("policy: %+v", p)
	}
}

func TestConfigRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"unknown key":      {"modelle: a/b\n", "modelle"},
		"unknown deep key": {"providers:\n  work: {type: openai, basurl: x}\n", "basurl"},
		"twice":            {"model: a/b\nmodel: a/c\n", "model"},
		"wrong type":       {"auto_recover: maybe\n", "maybe"},
		"no full name":     {"model: gpt-5\n", "provider/model"},
		"fallback":         {"fallbacks: [a/b, c]\n", "fallbacks[1]"},
		"no unit":          {"timeouts:\n  first_event: 30\n", "write for example 30s"},
		"negative":         {"timeouts:\n  idle: -5s\n", "negative"},
		"absurd":           {"timeouts:\n  run: 9000h\n", "31 days"},
		"beyond clocks":    {"timeouts:\n  run: 9999999h\n", "timeouts.run: run is longer than 31 days (9999999h); 0 is off"},
		"far below nought": {"timeouts:\n  run: -9999999h30m\n", "timeouts.run: run is negative (-9999999h30m); 0 is off"},
		"too many units":   {"timeouts:\n  run: 99999999999999999999999999hours\n", "is not a duration"},
		"too short":        {"timeouts:\n  idle: 5ms\n", "at least 1s"},
		"provider's timer": {"providers:\n  openai: {timeouts: {idle: -5s}}\n", "providers.openai.timeouts.idle: idle is negative (-5s); 0 is off"},
		"model's timer":    {"providers:\n  openai: {models: {o3.5: {timeouts: {run: 1ms}}}}\n", "timeouts.run: run is too short (1ms): at least 1s, or 0 for off"},
		"unknown timer":    {"timeouts:\n  idel: 5s\n", "there are: first_event"},
		"retries":          {"max_retries: 9\n", "between 0 and 5"},
		"rounds":           {"max_rounds: -1\n", "-1 is not between 0 (no limit) and 100000"},
		"parallel tools":   {"parallel_tools: 1001\n", "1001 is not between 0 (no limit) and 1000"},
		"tokens":           {"budget: {tokens: -1}\n", "negative"},
		"dollars":          {"budget: {dollars: .nan}\n", "dollars"},
		"day's tokens":     {"budget: {day_tokens: -1}\n", "budget.day_tokens: -1 is negative"},
		"day's dollars":    {"budget: {day_dollars: 1e9}\n", "budget.day_dollars: 1e+09 is not an amount"},
		"price":            {"providers:\n  openai: {models: {a: {price: {input: 1, cache_read: -1}}}}\n", "price.cache_read: -1 is not an amount"},
		"wire":             {"providers:\n  x: {type: soap}\n", "there are: anthropic, openai, openai-responses, gemini, "},
		"engine's key":     {"providers:\n  pi: {key_env: A}\n", "name their variables in env"},
		"engine's URL":     {"providers:\n  p: {type: pi, base_url: http://x}\n", "is a program"},
		"engine's retries": {"providers:\n  pi: {retries: twice}\n", "there are: mulligan, pi"},
		"engine's env":     {"providers:\n  pi: {env: [A=b]}\n", "env[0]"},
		"engine's command": {"providers:\n  pi: {command: []}\n", "it has no program"},
		"no engine":        {"providers:\n  openai: {command: [x]}\n", "for type pi only"},
		"not observed":     {"providers:\n  openai: {observe: true}\n", "config_dir and observe are for type pi only"},
		"half observed":    {"providers:\n  pi: {observe: perhaps}\n", "observe"},
		"no type":          {"providers:\n  x: {base_url: http://x}\n", "type is missing"},
		"key":              {"providers:\n  openai: {key_env: sk-123}\n", "never the key itself"},
		"webhook's URL":    {"webhooks: [{url: \"http://example.com\", secret_env: A}]\n", "webhooks[0]: url: http is for private addresses"},
		"webhook's secret": {"webhooks: [{url: \"https://example.com\", secret_env: a=b}]\n", "webhooks[0]: secret_env must name"},
		"webhook's events": {"webhooks: [{url: \"https://example.com\", secret_env: A, events: [began]}]\n", "there are: suggested, waiting"},
		"webhook twice":    {"webhooks: [{url: \"https://example.com\", secret_env: A}, {url: \"https://example.com\", secret_env: B}]\n", "webhooks[1].url: it is there twice"},
		"no builtin":       {"plugins: [other]\n", "no builtin plugin"},
		"same name":        {"plugins: [auto-recover, auto-recover]\n", "two plugins"},
		"address":          {"plugins: [{name: a, address: \"policy:1\"}]\n", "address: the address of a plugin is grpcs://HOST:PORT"},
		"both":             {"plugins: [{name: a, address: \"grpcs://h:1\", command: [x]}]\n", "either a command or an address"},
		"plaintext":        {"plugins: [{name: a, address: \"grpc://192.0.2.1:1\"}]\n", "without TLS a plugin must be on this machine"},
		"service's config": {"plugins: [{name: a, address: \"grpcs://h:1\", config: {x: 1}}]\n", "config: a service is configured where it runs"},
		"service's env":    {"plugins: [{name: a, address: \"grpcs://h:1\", env: [X]}]\n", "env: a service"},
		"service's folder": {"plugins: [{name: a, address: \"grpcs://h:1\", folder: x}]\n", "folder: a service"},
		"only a key":       {"plugins: [{name: a, address: \"grpcs://h:1\", tls: {key: k}}]\n", "a key its certificate"},
		"TLS key":          {"plugins: [{name: a, address: \"grpcs://h:1\", tls: {insecure: true}}]\n", "insecure"},
		"TLS of a command": {"plugins: [{name: a, command: [x], tls: {ca: c}}]\n", "tls: certificates are for"},
		"deadline":         {"plugins: [{name: a, command: [x], deadline: 1m}]\n", "10ms and 5s"},
		"restarts":         {"plugins: [{name: a, command: [x], restart: {max: 0}}]\n", "restart.max: 0 is not between 1 and 100"},
		"restart window":   {"plugins: [{name: a, command: [x], restart: {window: 5ms}}]\n", "between 1s and 24h"},
		"restart pauses":   {"plugins: [{name: a, command: [x], restart: {first: 10s, most: 1s}}]\n", "restart.most: \"1s\" is not a duration between 10s and 1h"},
		"breaker after":    {"plugins: [{name: a, command: [x], breaker: {after: 99}}]\n", "breaker.after: 99 is not between 1 and 20"},
		"breaker pause":    {"plugins: [{name: a, command: [x], breaker: {open: never}}]\n", "between 100ms and 24h"},
		"breaker key":      {"plugins: [{name: a, command: [x], breaker: {afterr: 9}}]\n", "afterr"},
		"shadow":           {"plugins: [{name: a, command: [x], shadow: maybe}]\n", "shadow"},
		"occasion":         {"plugins: [{name: a, command: [x], occasions: [after_call]}]\n", `there is no occasion "after_call"; there are: before_call, run_error, tool_error, run_ended`},
		"occasion twice":   {"plugins: [{name: a, command: [x], occasions: [run_ended, run_ended]}]\n", "run_ended is listed twice"},
		"no occasion":      {"plugins: [{name: a, command: [x], occasions: []}]\n", "asked about nothing"},
		"closed to what":   {"plugins: [{name: a, command: [x], fail_closed: true}]\n", "add before_call to occasions"},
		"tools on trial":   {"plugins: [{name: a, command: [x], shadow: true, occasions: [tool_error]}]\n", "not asked about tools"},
		"a gate on trial":  {"plugins: [{name: a, command: [x], shadow: true, occasions: [before_call]}]\n", "not asked before calls"},
		"a list":           {"- a\n", "[1:1]"},
		"broken":           {"model: [\n", "1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tt.source))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error: %v", err)
			}
		})
	}
}

func TestConfigErrorsPointAtTheLine(t *testing.T) {
	for _, source := range []string{"model: a/b\nmax_retries: 77\n", "model: a/b\nmax_retires: 3\n"} {
		_, err := Parse([]byte(source))
		if err == nil || !strings.Contains(err.Error(), "2 | max_ret") || !strings.Contains(err.Error(), "^") {
			t.Errorf("error: %v", err)
		}
	}
}

// TestAFractionIsNoCount: nor is a number between the limits wrong for want of being one.
func TestAFractionIsNoCount(t *testing.T) {
	for _, name := range []string{"MULLIGAN_MAX_RETRIES", "MULLIGAN_MAX_ROUNDS", "MULLIGAN_PARALLEL_TOOLS"} {
		err := (&Config{}).Amend(func(asked string) string { return map[string]string{name: "3.5"}[asked] })
		if err == nil || !strings.Contains(err.Error(), `"3.5" is not a whole number between 0`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPluginsNoneAndDefault(t *testing.T) {
	for source, want := range map[string]int{"": 1, "model: a/b": 1, "plugins: []": 0, "plugins: [auto-recover]": 1} {
		c, err := Parse([]byte(source))
		if err != nil || len(c.AskedPlugins()) != want {
			t.Errorf("%q: %v, %v", source, c.AskedPlugins(), err)
		}
	}
	c := &Config{}
	if err := c.AddPlugins([]string{"none", `./a "b c"`, "/x/a", "auto-recover"}); err != nil {
		t.Fatal(err)
	}
	want := []Plugin{{Name: "a", Command: []string{"./a", "b c"}}, {Name: "a-2", Command: []string{"/x/a"}}, {Name: "auto-recover"}}
	if diff := cmp.Diff(want, c.Plugins); diff != "" {
		t.Error(diff)
	}
	c = &Config{Plugins: []Plugin{{Name: "rules"}, {Name: "auto-recover"}, {Name: "x", Command: []string{"x"}}}}
	if err := c.AddPlugins([]string{"./x", "auto-recover", "mine=./a b=c", "FOO=1"}); err != nil {
		t.Fatal(err)
	}
	want = []Plugin{
		{Name: "x-2", Command: []string{"./x"}},
		{Name: "auto-recover"},
		{Name: "mine", Command: []string{"./a", "b=c"}},
		{Name: "foo-1", Command: []string{"FOO=1"}},
		{Name: "rules"},
		{Name: "x", Command: []string{"x"}},
	}
	if diff := cmp.Diff(want, c.Plugins); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", `"open`, "  ", "x=", "x=./x"} {
		if err := (&Config{Plugins: []Plugin{{Name: "x", Command: []string{"x"}}}}).AddPlugins([]string{bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestEnvironmentOverridesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte("model: a/b\nauto_recover: true\ntimeouts: {idle: 5s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := map[string]string{"MULLIGAN_MODEL": "c/d", "MULLIGAN_AUTO_RECOVER": "false", "MULLIGAN_IDLE": "7s", "MULLIGAN_FALLBACKS": "e/f, g/h", "MULLIGAN_STATE": "/s", "MULLIGAN_STORE": "postgres://me@db/runs"}
	c, err := Load(path, func(name string) string { return set[name] })
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != "c/d" || c.AutoRecover || c.Environment[failure.TimerIdle] != 7000 || len(c.Fallbacks) != 2 || c.State != "/s" || c.Store != "postgres://me@db/runs" {
		t.Errorf("%+v", c)
	}
	for name, value := range map[string]string{"MULLIGAN_MODEL": "x", "MULLIGAN_STORE": "mysql://me:secret@db", "MULLIGAN_STEP": "-1s", "MULLIGAN_MAX_RETRIES": "many", "MULLIGAN_MAX_ROUNDS": "-1", "MULLIGAN_PARALLEL_TOOLS": "x", "MULLIGAN_BUDGET_TOKENS": "-1", "MULLIGAN_BUDGET_DAY_DOLLARS": "NaN", "MULLIGAN_AUTO_RECOVER": "perhaps"} {
		_, err := Load(path, func(n string) string { return map[string]string{name: value}[n] })
		if err == nil || !strings.Contains(err.Error(), name) || !isUsage(err) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestStateDir(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		env  map[string]string
		want string
	}{
		{Config{State: "here"}, nil, "here"},
		{Config{}, map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/mulligan"},
		{Config{}, map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/mulligan"},
	} {
		if got, err := tt.c.StateDir(func(n string) string { return tt.env[n] }); err != nil || got != tt.want {
			t.Errorf("%v: %q, %v", tt.env, got, err)
		}
	}
	_, err := new(Config).StateDir(func(string) string { return "" })
	if coded := (*exit.Error)(nil); !errors.As(err, &coded) || coded.Code != exit.CodeUsage || !strings.Contains(err.Error(), "HOME is not set") {
		t.Errorf("without a home: %v", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(wholeConfig)
	f.Add("plugins: [a: b]\ntimeouts: {idle: 1s}")
	f.Add("providers:\n  'a b': {}\n")
	f.Add("timeouts: {\"a'b.c\": 1s}")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4<<10 {
			t.Skip()
		}
		c, err := Parse([]byte(source))
		if err != nil {
			return
		}
		for _, layer := range c.TimeoutLayers(c.Model, nil) {
			if err := layer.Set.Check(); err != nil {
				t.Error(err)
			}
		}
		p := recovery.DefaultPolicy()
		c.Policy(&p)
		if p.Budget.Tokens < 0 || p.Budget.Microdollars < 0 || p.MaxRetries < 0 {
			t.Errorf("policy: %+v", p)
		}
	})
}

// isUsage reports whether an error is the caller's mistake, to a verb.
func isUsage(err error) bool {
	coded, ok := errors.AsType[*exit.Error](err)
	return ok && coded.Code == exit.CodeUsage
}
