package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
)

// Config is mulligan.yaml, amended by the environment and by flags.
type Config struct {
	Model       string               `yaml:"model"`            // PROVIDER/MODEL, that runs ask unless they say otherwise
	Fallbacks   []string             `yaml:"fallbacks"`        // models that a run may be switched to, in order of preference
	AutoRecover bool                 `yaml:"auto_recover"`     // decisions are carried out; otherwise a person is asked
	Timeouts    Timeouts             `yaml:"timeouts"`         // the timers of every run, each a duration such as 2m, or 0 for off
	MaxRetries  *int                 `yaml:"max_retries"`      // of one model call, on the same model
	MaxRounds   *int                 `yaml:"max_rounds"`       // model calls that ask for tools; 0 = any number
	Parallel    *int                 `yaml:"parallel_tools"`   // tool calls of an answer at the same time; 0 = all
	StepText    bool                 `yaml:"step_counts_text"` // streamed text resets the timer step
	Budget      Budget               `yaml:"budget"`           // what runs may use
	Providers   map[string]Provider  `yaml:"providers"`        // the known ones have entries already
	Plugins     []Plugin             `yaml:"plugins"`          // asked in this order; missing = auto-recover, empty = none
	Tools       []Tool               `yaml:"tools"`            // programs that models may call
	MCP         map[string]MCPServer `yaml:"mcp"`              // tool servers, by name
	State       string               `yaml:"state"`            // the folder that keeps runs
	Machine     recovery.Labels      `yaml:"machine"`          // what this machine has, for runs that need it
	Store       string               `yaml:"store"`            // the URL of a PostgreSQL database; "" = a file in the state folder
	Gateway     Gateway              `yaml:"gateway"`          // limits of the HTTP API
	Proxy       Proxy                `yaml:"proxy"`            // for any other agent
	Webhooks    []Webhook            `yaml:"webhooks"`         // who is told what happens to runs
	Failures    []Failure            `yaml:"failures"`         // corrections of the classifier
	PluginIndex *PluginIndex         `yaml:"plugin_index"`     // where `plugin search` and `plugin install` look

	Path        string            // of the file; "" = there is no file
	Models      []string          // configured below providers, in the order of the file
	Environment recovery.Settings // timers set by the environment
}

// Provider is a provider under a name of the user's own.
type Provider struct {
	Type         string           `yaml:"type"`          // how it is spoken to, such as anthropic or openai; "" = the entry's name
	BaseURL      string           `yaml:"base_url"`      // its address; "" = the known one of its type
	KeyEnv       string           `yaml:"key_env"`       // the environment variable that holds its key
	AllowPrivate bool             `yaml:"allow_private"` // its address may be on this machine or in its network
	Proxy        string           `yaml:"proxy"`         // its address, or none; "" = the environment's
	Local        bool             `yaml:"local"`         // a model server that may have to load a model first, so that its timers are longer
	Timeouts     Timeouts         `yaml:"timeouts"`      // of its models
	Models       map[string]Model `yaml:"models"`        // by their names there
	Needs        recovery.Labels  `yaml:"needs"`         // what a machine must have to ask it: see machine

	// The following fields are for type pi only.
	Command   []string `yaml:"command"`    // the program and its first arguments; "pi"
	Retries   string   `yaml:"retries"`    // mulligan or pi: who retries failed requests; mulligan
	Env       []string `yaml:"env"`        // names of variables that it gets; missing = the usual keys
	ConfigDir string   `yaml:"config_dir"` // where the user's own Pi keeps its logins and models; "" = its usual folder
	Observe   bool     `yaml:"observe"`    // its requests go through a proxy on this machine, which sees how they go
}

// Model says what a model can do; missing fields are filled in from the known models.
type Model struct {
	ContextTokens  int64    `yaml:"context_tokens"`  // of a request and its answer together
	Images         *bool    `yaml:"images"`          // it takes pictures
	Tools          *bool    `yaml:"tools"`           // it calls tools
	JSONSchema     *bool    `yaml:"json_schema"`     // its answers keep to a schema
	Prefill        *bool    `yaml:"prefill"`         // it continues a last message of its own
	ThinksSilently *bool    `yaml:"thinks_silently"` // first_event and idle are longer then
	Price          *Price   `yaml:"price"`           // for budgets and reports
	Timeouts       Timeouts `yaml:"timeouts"`        // of this model alone
}

// Plugin is a plugin: the name of a builtin one alone, or an entry with fields.
type Plugin struct {
	Name       string         `yaml:"name"`        // a builtin plugin, or the name of this entry
	Command    []string       `yaml:"command"`     // without a command and an address: the builtin plugin of that name
	Address    string         `yaml:"address"`     // of a service, instead of a command
	TLS        *TLS           `yaml:"tls"`         // for an address with grpcs://
	Env        []string       `yaml:"env"`         // NAME or NAME=value
	Config     map[string]any `yaml:"config"`      // what the plugin is configured with; its schema says what that may be
	Deadline   string         `yaml:"deadline"`    // how long it may take for an answer; 2s
	Folder     string         `yaml:"folder"`      // holds all of it; "" = found by its command
	Transcript string         `yaml:"transcript"`  // messages: it is told the conversation; "" = it is not
	Shadow     bool           `yaml:"shadow"`      // on trial: its votes are recorded, but never count
	Occasions  []string       `yaml:"occasions"`   // occasions that it is asked about; run_error only by default
	FailClosed bool           `yaml:"fail_closed"` // a model call does not begin without its valid answer
	Restart    *Restart       `yaml:"restart"`     // after its process has ended
	Breaker    *Breaker       `yaml:"breaker"`     // when it is asked no more for a while
}

// UnmarshalYAML also accepts the name of a builtin plugin instead of an entry.
func (p *Plugin) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) == nil {
		*p = Plugin{Name: name}
		return nil
	}
	type plain Plugin
	return unmarshal((*plain)(p))
}

// Upper limits of settings.
const (
	maxRetriesLimit = recovery.MaxAttemptsPerCall - 1
	MaxRoundsLimit  = 100_000
	parallelLimit   = 1000
)

var defaultPlugins = []Plugin{{Name: AutoRecover}}

// Load reads the named file, or else the first of the usual ones, and amends it by the
// environment.
func Load(path string, env func(string) string) (*Config, error) {
	path, source, err := findConfig(cmp.Or(path, env("MULLIGAN_CONFIG")), env)
	if err != nil {
		return nil, err
	}
	c, err := Parse(source)
	if err != nil {
		return nil, exit.Usagef("%s: %w", path, err)
	}
	c.Path = path
	c.placeCertificates()
	c.placeTools()
	c.placeMCP()
	if err := c.checkRules(source); err != nil {
		return nil, err
	}
	if err := c.SetStore(c.Store); err != nil {
		return nil, exit.Usagef("%s: %w", path, err)
	}
	if err := c.Amend(env); err != nil {
		return nil, exit.Usage(err)
	}
	return c, nil
}

// findConfig gives the path and content of the config file, both empty if there is none.
func findConfig(path string, env func(string) string) (string, []byte, error) {
	if path != "" {
		source, err := yamlfile.Read(path)
		if err != nil {
			return "", nil, exit.Usagef("config: %w", err)
		}
		return path, source, nil
	}
	for _, path := range UsualPaths(env) {
		source, err := yamlfile.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, exit.Usagef("config: %w", err)
		}
		return path, source, nil
	}
	return "", nil, nil
}

// UsualPaths are where the file is looked for if none is named, in this order.
func UsualPaths(env func(string) string) []string {
	paths := []string{"mulligan.yaml"}
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return append(paths, filepath.Join(dir, "mulligan", "mulligan.yaml"))
	}
	if home := env("HOME"); home != "" {
		paths = append(paths, filepath.Join(home, ".config", "mulligan", "mulligan.yaml"))
	}
	return paths
}

// Parse reads a config strictly: an unknown key, a wrong type or a value out of range is an error
// that shows the line.
func Parse(source []byte) (*Config, error) {
	c := &Config{}
	if err := yamlfile.Decode(source, c); err != nil {
		return nil, err
	}
	c.Models = c.configuredModels(source)
	return c, nil
}

// Problem finds the first value that is wrong.
func (c *Config) Problem() *yamlfile.Problem {
	if c.Model != "" {
		if err := CheckModel(c.Model); err != nil {
			return yamlfile.Problemf("$.model", "%v", err)
		}
	}
	for i, m := range c.Fallbacks {
		if err := CheckModel(m); err != nil {
			return yamlfile.Problemf(fmt.Sprintf("$.fallbacks[%d]", i), "%v", err)
		}
	}
	if p := c.Timeouts.problem("$.timeouts"); p != nil {
		return p
	}
	if c.MaxRetries != nil && (*c.MaxRetries < 0 || *c.MaxRetries > maxRetriesLimit) {
		return yamlfile.Problemf("$.max_retries", "%d is not between 0 and %d", *c.MaxRetries, maxRetriesLimit)
	}
	if c.MaxRounds != nil && (*c.MaxRounds < 0 || *c.MaxRounds > MaxRoundsLimit) {
		return yamlfile.Problemf("$.max_rounds", "%d is not between 0 (no limit) and %d", *c.MaxRounds, MaxRoundsLimit)
	}
	if c.Parallel != nil && (*c.Parallel < 0 || *c.Parallel > parallelLimit) {
		return yamlfile.Problemf("$.parallel_tools", "%d is not between 0 (no limit) and %d", *c.Parallel, parallelLimit)
	}
	if p := c.Budget.problem(); p != nil {
		return p
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if p := c.Providers[name].problem(name); p != nil {
			return p
		}
	}
	return cmp.Or(labelsProblem("$.machine", c.Machine), PluginProblem(c.Plugins), toolProblem(c.Tools), mcpProblem(c.MCP), c.Gateway.problem(), c.Proxy.problem(), webhooksProblem(c.Webhooks),
		failureProblem(c.Failures), c.PluginIndex.problem())
}

// engineProblem checks the fields that only an engine's entry may have, and those that it may not
// have.
func (e Provider) engineProblem(at, kind string) *yamlfile.Problem {
	const key = "the keys are the program's own affair: name their variables in env"
	switch isEngine := kind == provider.TypePi; {
	case !isEngine && (len(e.Command) > 0 || e.Retries != "" || e.Env != nil || e.ConfigDir != "" || e.Observe):
		return yamlfile.Problemf(at, "command, retries, env, config_dir and observe are for type %s only", provider.TypePi)
	case !isEngine:
		return nil
	case e.BaseURL != "" || e.AllowPrivate || e.Proxy != "":
		return yamlfile.Problemf(at, "a provider of type %s is a program, and has no base_url, allow_private or proxy (it gets HTTPS_PROXY and NO_PROXY of the environment)", kind)
	case e.KeyEnv != "":
		return yamlfile.Problemf(at+".key_env", key)
	case e.Command != nil && (len(e.Command) == 0 || e.Command[0] == ""):
		return yamlfile.Problemf(at+".command", "it has no program")
	case e.Retries != "" && e.Retries != "mulligan" && e.Retries != "pi":
		return yamlfile.Problemf(at+".retries", "%q is not known; there are: mulligan, pi", e.Retries)
	}
	for i, name := range e.Env {
		if !yamlfile.EnvName.MatchString(name) {
			return yamlfile.Problemf(fmt.Sprintf("%s.env[%d]", at, i), "%q is not the name of an environment variable", name)
		}
	}
	return nil
}

func (e Model) problem(at string) *yamlfile.Problem {
	if e.ContextTokens < 0 {
		return yamlfile.Problemf(at+".context_tokens", "%d is negative", e.ContextTokens)
	}
	if e.Price != nil {
		if p := e.Price.problem(at + ".price"); p != nil {
			return p
		}
	}
	return e.Timeouts.problem(at + ".timeouts")
}

// PluginProblem finds the first plugin that is wrong.
func PluginProblem(plugins []Plugin) *yamlfile.Problem {
	seen := map[string]bool{}
	for i, p := range plugins {
		at := fmt.Sprintf("$.plugins[%d]", i)
		switch {
		case !yamlfile.EntryName.MatchString(p.Name):
			return yamlfile.Problemf(at, "a plugin needs a name of small letters, digits, '.', '_' and '-', not %q", p.Name)
		case seen[p.Name]:
			return yamlfile.Problemf(at, "two plugins are called %q", p.Name)
		case len(p.Command) == 0 && !p.IsBuiltin() && !p.IsRemote():
			return yamlfile.Problemf(at, "there is no builtin plugin %q; there are: %s. Any other one needs a command or an address", p.Name, BuiltinNames())
		}
		if p.Deadline != "" {
			d, err := time.ParseDuration(p.Deadline)
			if err != nil || d < 10*time.Millisecond || d > 5*time.Second {
				return yamlfile.Problemf(at+".deadline", "%q is not a duration between 10ms and 5s", p.Deadline)
			}
		}
		if problem := cmp.Or(p.remoteProblem(at), p.policyProblem(at), p.occasionsProblem(at), trust.CheckTranscript(at+".transcript", p.Transcript)); problem != nil {
			return problem
		}
		seen[p.Name] = true
	}
	return nil
}

// CheckModel says what is wrong with the full name of a model; nil if it has the form
// provider/model.
func CheckModel(name string) error {
	if provider.CheckName(name) != nil {
		return fmt.Errorf("%q is not the full name of a model: write provider/model, for example anthropic/claude-sonnet-4-5", name)
	}
	return nil
}

// LockPath is beside the config or, without a config, in the working directory.
func (c *Config) LockPath() string { return filepath.Join(filepath.Dir(c.Path), trust.LockName) }

// NoTool, as a --tool, leaves all tools out.
const NoTool = "none"
