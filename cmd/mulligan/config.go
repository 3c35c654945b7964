package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
)

// config is mulligan.yaml, amended by the environment and by flags.
type config struct {
	Model       string                   `yaml:"model"`
	Fallbacks   []string                 `yaml:"fallbacks"`
	AutoRecover bool                     `yaml:"auto_recover"`
	Timeouts    timeoutsEntry            `yaml:"timeouts"`
	MaxRetries  *int                     `yaml:"max_retries"`
	MaxRounds   *int                     `yaml:"max_rounds"`       // model calls that ask for tools; 0 = as many as they like
	Parallel    *int                     `yaml:"parallel_tools"`   // tool calls of an answer side by side; 0 = all
	StepText    bool                     `yaml:"step_counts_text"` // text that streams re-arms the timer step
	Budget      budgetConfig             `yaml:"budget"`
	Providers   map[string]providerEntry `yaml:"providers"`
	Plugins     []pluginEntry            `yaml:"plugins"` // nil = the default, empty = none
	Tools       []toolEntry              `yaml:"tools"`
	MCP         map[string]mcpEntry      `yaml:"mcp"` // servers of tools, by their names
	State       string                   `yaml:"state"`
	Gateway     gatewayEntry             `yaml:"gateway"`
	Failures    []failureEntry           `yaml:"failures"` // what failures are, above the classifier

	path        string            // of the file; "" = there is none
	models      []string          // configured below providers, in the order of the file
	environment recovery.Settings // timers
}

// providerEntry is a provider under a name of the person's own.
type providerEntry struct {
	Type         string                `yaml:"type"` // one of provider.KnownTypes; the entry's name by default
	BaseURL      string                `yaml:"base_url"`
	KeyEnv       string                `yaml:"key_env"`
	AllowPrivate bool                  `yaml:"allow_private"`
	Proxy        string                `yaml:"proxy"`    // its address, or none; the environment's
	Local        bool                  `yaml:"local"`    // a model server that may load a model first: more patience
	Timeouts     timeoutsEntry         `yaml:"timeouts"` // of its models
	Models       map[string]modelEntry `yaml:"models"`

	// Of type pi only.
	Command   []string `yaml:"command"`    // how it is started; pi
	Retries   string   `yaml:"retries"`    // mulligan or pi: who tries again what failed; mulligan
	Env       []string `yaml:"env"`        // names of variables that it gets; the usual keys
	ConfigDir string   `yaml:"config_dir"` // where the person's own keeps its logins and models; its usual folder
	Observe   bool     `yaml:"observe"`    // its requests pass a proxy on this machine, which sees how they go
}

// modelEntry says what a model can do; what it leaves out is looked up among the
// well-known models.
type modelEntry struct {
	ContextTokens  int64         `yaml:"context_tokens"`
	Images         *bool         `yaml:"images"`          // it takes pictures
	ThinksSilently *bool         `yaml:"thinks_silently"` // first_event and idle are longer then
	Price          *priceEntry   `yaml:"price"`
	Timeouts       timeoutsEntry `yaml:"timeouts"`
}

// pluginEntry is a plugin: only a builtin's name, or all of the rest.
type pluginEntry struct {
	Name       string         `yaml:"name"`
	Command    []string       `yaml:"command"` // without it and an address: the builtin of that name
	Address    string         `yaml:"address"` // of a service, instead of a command
	TLS        *tlsEntry      `yaml:"tls"`     // for an address with grpcs://
	Env        []string       `yaml:"env"`     // NAME or NAME=value
	Config     map[string]any `yaml:"config"`
	Deadline   string         `yaml:"deadline"`
	Folder     string         `yaml:"folder"`     // holds all of it; "" = found by its command
	Transcript string         `yaml:"transcript"` // messages: it is told what is said in runs; none by default
	Shadow     bool           `yaml:"shadow"`     // asked on trial: its votes are recorded, and never count
	Restart    *restartEntry  `yaml:"restart"`
	Breaker    *breakerEntry  `yaml:"breaker"`
}

// UnmarshalYAML takes the name of a builtin where a whole entry could stand.
func (p *pluginEntry) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) == nil {
		*p = pluginEntry{Name: name}
		return nil
	}
	type plain pluginEntry
	return unmarshal((*plain)(p))
}

const (
	maxConfig       = 256 << 10 // bytes
	maxRetriesLimit = recovery.MaxAttemptsPerCall - 1
	maxRoundsLimit  = 100_000
	parallelLimit   = 1000
)

var defaultPlugins = []pluginEntry{{Name: builtinAutoRecover}}

// loadConfig reads the file that is asked for, or else the first of the usual
// ones, and amends it by the environment.
func loadConfig(path string, env func(string) string) (*config, error) {
	path, source, err := findConfig(cmp.Or(path, env("MULLIGAN_CONFIG")), env)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(source)
	if err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	c.path = path
	c.placeCertificates()
	c.placeTools()
	c.placeMCP()
	if err := c.checkRules(source); err != nil {
		return nil, err
	}
	if err := c.amend(env); err != nil {
		return nil, usage(err)
	}
	return c, nil
}

// findConfig gives the path and content of the config file, both empty if there is none.
func findConfig(path string, env func(string) string) (string, []byte, error) {
	if path != "" {
		source, err := readBounded(path)
		if err != nil {
			return "", nil, usagef("config: %w", err)
		}
		return path, source, nil
	}
	for _, path := range usualConfigs(env) {
		source, err := readBounded(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, usagef("config: %w", err)
		}
		return path, source, nil
	}
	return "", nil, nil
}

func usualConfigs(env func(string) string) []string {
	paths := []string{"mulligan.yaml"}
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return append(paths, filepath.Join(dir, "mulligan", "mulligan.yaml"))
	}
	if home := env("HOME"); home != "" {
		paths = append(paths, filepath.Join(home, ".config", "mulligan", "mulligan.yaml"))
	}
	return paths
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	source, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(source) > maxConfig {
		err = fmt.Errorf("%s is larger than %d bytes: it is no config file", path, maxConfig)
	}
	return source, err
}

// parseConfig reads a config strictly: an unknown key, a wrong type or a value
// out of range is an error that shows the line.
func parseConfig(source []byte) (*config, error) {
	c := &config{}
	if err := readStrictly(source, c); err != nil {
		return nil, err
	}
	c.models = c.configuredModels(source)
	return c, nil
}

// readStrictly decodes and checks a document; what is wrong is shown in its lines.
func readStrictly(source []byte, into interface{ problem() *problem }) error {
	if err := decodeStrictly(source, into); err != nil && !errors.Is(err, io.EOF) {
		return errors.New(withoutLogins(yaml.FormatError(err, false, true)))
	}
	if p := into.problem(); p != nil {
		return errors.New(withoutLogins(p.show(source)))
	}
	return nil
}

// logins are those of URLs and of a proxy's address, in lines that show what is wrong.
var logins = regexp.MustCompile(`(://|\bproxy: *["']?)[^\s"']+@`)

func withoutLogins(text string) string { return logins.ReplaceAllString(text, "${1}"+redact.Mark+"@") }

// decodeStrictly decodes YAML. The decoder panics at some input that is none.
func decodeStrictly(source []byte, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", p)
		}
	}()
	return yaml.NewDecoder(bytes.NewReader(source), yaml.Strict(), yaml.DisallowUnknownField()).Decode(into)
}

// problem is a value that has the right type and is wrong all the same.
type problem struct {
	path string // a YAML path
	text string
}

func problemf(path, format string, args ...any) *problem {
	return &problem{path, fmt.Sprintf(format, args...)}
}

// show points at the value in the source.
func (p *problem) show(source []byte) string {
	text := strings.TrimPrefix(p.path, "$.") + ": " + p.text
	path, err := yaml.PathString(p.path)
	if err != nil {
		return text
	}
	excerpt, err := path.AnnotateSource(source, false)
	if err != nil {
		return text
	}
	return text + "\n" + string(excerpt)
}

var (
	entryName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// problem finds the first value that is wrong.
func (c *config) problem() *problem {
	if c.Model != "" {
		if err := checkModel(c.Model); err != nil {
			return problemf("$.model", "%v", err)
		}
	}
	for i, m := range c.Fallbacks {
		if err := checkModel(m); err != nil {
			return problemf(fmt.Sprintf("$.fallbacks[%d]", i), "%v", err)
		}
	}
	if p := c.Timeouts.problem("$.timeouts"); p != nil {
		return p
	}
	if c.MaxRetries != nil && (*c.MaxRetries < 0 || *c.MaxRetries > maxRetriesLimit) {
		return problemf("$.max_retries", "%d is not between 0 and %d", *c.MaxRetries, maxRetriesLimit)
	}
	if c.MaxRounds != nil && (*c.MaxRounds < 0 || *c.MaxRounds > maxRoundsLimit) {
		return problemf("$.max_rounds", "%d is not between 0 (no limit) and %d", *c.MaxRounds, maxRoundsLimit)
	}
	if c.Parallel != nil && (*c.Parallel < 0 || *c.Parallel > parallelLimit) {
		return problemf("$.parallel_tools", "%d is not between 0 (no limit) and %d", *c.Parallel, parallelLimit)
	}
	if p := c.Budget.problem(); p != nil {
		return p
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if p := c.Providers[name].problem(name); p != nil {
			return p
		}
	}
	return cmp.Or(pluginProblem(c.Plugins), toolProblem(c.Tools), mcpProblem(c.MCP), c.Gateway.problem(), failureProblem(c.Failures))
}

func (e providerEntry) problem(name string) *problem {
	at := "$.providers." + quotePath(name)
	switch {
	case !entryName.MatchString(name):
		return problemf(at, "%q is no name for a provider: use small letters, digits, '.', '_' and '-'", name)
	case e.Type != "" && !provider.KnownType(e.Type):
		return problemf(at+".type", "%q is not known; there are: %s", e.Type, provider.KnownTypes())
	case e.Type == "" && !provider.KnownType(name):
		return problemf(at, "its type is missing: one of %s", provider.KnownTypes())
	case provider.CheckProxy(e.Proxy) != nil:
		return problemf(at+".proxy", "%v; none = no proxy, also where HTTPS_PROXY is set", provider.CheckProxy(e.Proxy))
	case e.KeyEnv != "" && !envName.MatchString(e.KeyEnv):
		return problemf(at+".key_env", "it is the name of an environment variable that holds the key, never the key itself")
	}
	if p := cmp.Or(e.engineProblem(at, cmp.Or(e.Type, name)), e.Timeouts.problem(at+".timeouts")); p != nil {
		return p
	}
	for _, model := range slices.Sorted(maps.Keys(e.Models)) {
		if p := e.Models[model].problem(at + ".models." + quotePath(model)); p != nil {
			return p
		}
	}
	return nil
}

// engineProblem looks at what only an engine's entry may have, and at what it may not have.
func (e providerEntry) engineProblem(at, kind string) *problem {
	const key = "the keys are the program's own affair: name their variables in env"
	switch isEngine := kind == provider.TypePi; {
	case !isEngine && (len(e.Command) > 0 || e.Retries != "" || e.Env != nil || e.ConfigDir != "" || e.Observe):
		return problemf(at, "command, retries, env, config_dir and observe are for type %s only", provider.TypePi)
	case !isEngine:
		return nil
	case e.BaseURL != "" || e.AllowPrivate || e.Proxy != "":
		return problemf(at, "a provider of type %s is a program, and has no base_url, allow_private or proxy (it gets HTTPS_PROXY and NO_PROXY of the environment)", kind)
	case e.KeyEnv != "":
		return problemf(at+".key_env", key)
	case e.Command != nil && (len(e.Command) == 0 || e.Command[0] == ""):
		return problemf(at+".command", "it has no program")
	case e.Retries != "" && e.Retries != "mulligan" && e.Retries != "pi":
		return problemf(at+".retries", "%q is not known; there are: mulligan, pi", e.Retries)
	}
	for i, name := range e.Env {
		if !envName.MatchString(name) {
			return problemf(fmt.Sprintf("%s.env[%d]", at, i), "%q is not the name of an environment variable", name)
		}
	}
	return nil
}

func (e modelEntry) problem(at string) *problem {
	if e.ContextTokens < 0 {
		return problemf(at+".context_tokens", "%d is negative", e.ContextTokens)
	}
	if e.Price != nil {
		if p := e.Price.problem(at + ".price"); p != nil {
			return p
		}
	}
	return e.Timeouts.problem(at + ".timeouts")
}

func pluginProblem(plugins []pluginEntry) *problem {
	seen := map[string]bool{}
	for i, p := range plugins {
		at := fmt.Sprintf("$.plugins[%d]", i)
		switch {
		case !entryName.MatchString(p.Name):
			return problemf(at, "a plugin needs a name of small letters, digits, '.', '_' and '-', not %q", p.Name)
		case seen[p.Name]:
			return problemf(at, "two plugins are called %q", p.Name)
		case len(p.Command) == 0 && !p.isBuiltin() && !p.isRemote():
			return problemf(at, "there is no builtin plugin %q; there are: %s. Any other one needs a command or an address", p.Name, builtinNames())
		}
		if p.Deadline != "" {
			d, err := time.ParseDuration(p.Deadline)
			if err != nil || d < 10*time.Millisecond || d > 5*time.Second {
				return problemf(at+".deadline", "%q is not a duration between 10ms and 5s", p.Deadline)
			}
		}
		if problem := cmp.Or(p.remoteProblem(at), p.policyProblem(at), checkTranscript(at+".transcript", p.Transcript)); problem != nil {
			return problem
		}
		seen[p.Name] = true
	}
	return nil
}

// quotePath makes a key part of a YAML path.
func quotePath(key string) string {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`).MatchString(key) {
		return key
	}
	return "'" + strings.ReplaceAll(key, "'", `\'`) + "'"
}

// checkModel says what is wrong with the full name of a model.
func checkModel(name string) error {
	entry, model, ok := strings.Cut(name, "/")
	if !ok || entry == "" || model == "" || len(name) > 256 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is not the full name of a model: write provider/model, for example anthropic/claude-sonnet-4-5", name)
	}
	return nil
}
