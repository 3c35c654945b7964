package server

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/keystore"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/show"
)

// The demo's provider entries. The names are reserved: unless a provider with that name is
// configured, a model of these entries starts the demo's provider inside this process, so that
// another command can recover a run of the demo.
const (
	demoFable = "fable"                                 // Anthropic's wire
	demoAtlas = "atlas"                                 // OpenAI's
	DemoFable = demoFable + "/" + faultlab.DemoModel    // of the first entry
	DemoAtlas = demoAtlas + "/" + faultlab.DemoFallback // of the second entry
)

// usualModel is a model that an entry is asked for if nobody chose one.
type usualModel struct{ entry, key, model string }

// usualModels are the models that are used if none is configured, depending on which
// keys are set.
var usualModels = []usualModel{
	{"anthropic", "ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-5"},
	{"openai", "OPENAI_API_KEY", "openai/gpt-5.2"},
	{"gemini", "GEMINI_API_KEY", "gemini/gemini-2.5-pro"},
	{"openrouter", "OPENROUTER_API_KEY", "openrouter/anthropic/claude-sonnet-4.5"},
}

// usualKeys lists, in words, the variables that choose one of usualModels.
func usualKeys() string {
	var keys []string
	for _, usual := range usualModels {
		keys = append(keys, usual.key)
	}
	last := len(keys) - 1
	return strings.Join(keys[:last], ", ") + " or " + keys[last]
}

// Models finds models: the configured ones, and the demo's.
type Models struct {
	Set   *provider.Set
	own   map[string]bool     // entries that are configured
	known *config.Corrections // corrections of their failures
	keys  *keystore.Store     // that people pasted; nil where there is no place for them
	Calm  bool                // the demo's provider does not fail, for somebody who resumes later a run that it failed

	driveless bool // other processes drive the runs that begin here

	mu     sync.Mutex
	Lab    *faultlab.Lab
	Server *faultlab.Server
	demo   *provider.Set
}

// NewModels finds the models that c configures, and those of the well-known providers.
func NewModels(c *config.Config, options ...provider.Option) (*Models, error) {
	entries := map[string]config.Provider{}
	for _, known := range provider.Known() {
		entries[known.Name] = config.Provider{}
	}
	maps.Copy(entries, c.Providers)
	list := providerEntries(entries)
	if dir, err := c.EngineDir(); err == nil { // without it, an engine reports the error when it is asked
		for i := range list {
			list[i].Engine.Folder = filepath.Join(dir, list[i].Name)
		}
	}
	known, err := c.LearnedFailures(os.Getenv)
	if err != nil {
		return nil, err
	}
	m := &Models{own: map[string]bool{}, known: known, keys: keysOf(c)}
	m.Set, err = provider.New(list, append(options, provider.WithEnv(m.env), provider.WithKnown(&secrets), provider.WithClassifier(known.Classify))...)
	if err != nil {
		return nil, err
	}
	for name := range entries {
		m.own[name] = true
	}
	return m, nil
}

// DemoModels are only the demo's, so that the demo is the same whatever this computer's
// environment, configuration and learned failures say.
func DemoModels() (*Models, error) {
	set, err := provider.New(nil, provider.WithKnown(&secrets))
	return &Models{Set: set, known: &config.Corrections{}}, err
}

// Choose sets the model that runs begin with.
func (m *Models) Choose(c *config.Config) error {
	m.usual(c)
	if c.Model == "" {
		return errNoModel()
	}
	for _, name := range append([]string{c.Model}, c.Fallbacks...) {
		if _, err := m.Model(name); err != nil {
			return fmt.Errorf("model %s: %w", name, err)
		}
	}
	return nil
}

// usual chooses a model by the keys that are set, if none is configured.
func (m *Models) usual(c *config.Config) {
	c.Model = m.usualModel(c)
}

// usualModel is the model that runs begin with: the configured one, or else one with a key; "" if there
// is none.
func (m *Models) usualModel(c *config.Config) string {
	model := c.Model
	for _, usual := range usualModels {
		if model == "" && m.Set.Has(usual.model) {
			model = usual.model
		}
	}
	return model
}

func errNoModel() error {
	return fmt.Errorf("no model is chosen and no key is set: set %s (export %s=…), or choose a model with --model or in mulligan.yaml (`%s doctor` tells more). Without any key: `%s demo`",
		usualKeys(), usualModels[0].key, show.Invoked(), show.Invoked())
}

// lacks says what is missing to call the configured model; nil if nothing is.
func (m *Models) lacks(c *config.Config) error {
	entry, _, _ := strings.Cut(c.Model, "/")
	switch key := m.keyEnv(entry); {
	case c.Model == "":
		return errNoModel()
	case m.Has(c.Model) || key == "":
		return nil
	default:
		return fmt.Errorf("%s is not set, so that nothing can be asked of %s: export %s=…, and start this again", key, c.Model, key)
	}
}

// Model finds a model by its full name.
func (m *Models) Model(name string) (llm.Model, error) {
	if !m.isDemo(name) {
		return m.Set.Model(name)
	}
	demo, err := m.StartDemo()
	if err != nil {
		return nil, err
	}
	return demo.Model(name)
}

// Has reports whether the model could be called now.
func (m *Models) Has(name string) bool { return m.isDemo(name) || m.Set.Has(name) }

// Redact removes the keys of all providers from text.
func (m *Models) Redact(text string) string { return m.Set.Redact(text) }

// keyEnv is the environment variable that holds an entry's key, or "".
func (m *Models) keyEnv(entry string) string {
	if m.isDemoEntry(entry) {
		return ""
	}
	return m.Set.KeyEnv(entry)
}

// Capabilities is what is known about the model's abilities.
func (m *Models) Capabilities(name string) llm.Capabilities {
	if m.isDemo(name) {
		return llm.Capabilities{}
	}
	return m.Set.Capabilities(name)
}

// thinksSilently reports whether the model is known to be silent while it thinks.
func (m *Models) thinksSilently(name string) bool {
	return !m.isDemo(name) && m.Set.ThinksSilently(name)
}

// local reports whether the model is on a local model server.
func (m *Models) local(name string) bool {
	return !m.isDemo(name) && m.Set.Local(name)
}

// Offline reports whether none of the models can be reached because this machine has no
// connection.
func (m *Models) Offline(ctx context.Context, models []string) bool {
	return !slices.ContainsFunc(models, m.isDemo) && m.Set.Offline(ctx, models)
}

func (m *Models) isDemo(name string) bool {
	entry, _, _ := strings.Cut(name, "/")
	return (name == DemoFable || name == DemoAtlas) && m.isDemoEntry(entry)
}

// isDemoEntry reports whether an entry is the demo's, and no provider with that name is
// configured.
func (m *Models) isDemoEntry(entry string) bool {
	return (entry == demoFable || entry == demoAtlas) && !m.own[entry]
}

// playsDemo reports whether the model is the demo's: its own, or one on this machine that is
// configured under the demo's names, as "demo --serve" suggests.
func (m *Models) playsDemo(name string) bool {
	entry, _, _ := strings.Cut(name, "/")
	return m.isDemo(name) || (entry == demoFable || entry == demoAtlas) && m.Set.Loopback(name)
}

// StartDemo starts the demo's provider, once.
func (m *Models) StartDemo() (*provider.Set, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.demo != nil {
		return m.demo, nil
	}
	m.Lab = faultlab.Demo()
	if m.Calm {
		m.Lab.Script(faultlab.DemoModel, faultlab.Answer(faultlab.DemoAnswer))
	}
	server, err := m.Lab.Listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the demo's provider: %w", err)
	}
	m.Server = server
	m.demo, err = provider.New(demoEntries(server.URL()), provider.WithClassifier(m.known.Classify))
	return m.demo, err
}

// demoEntries are the demo's provider as two entries, one per wire. It requires a key, and
// accepts any.
func demoEntries(url string) []provider.Entry {
	return []provider.Entry{
		{Name: demoFable, Type: provider.TypeAnthropic, BaseURL: url, Key: "demo"},
		{Name: demoAtlas, Type: provider.TypeOpenAI, BaseURL: url + "/v1", Key: "demo"},
	}
}

// providerEntries converts the config to package provider's form.
func providerEntries(entries map[string]config.Provider) []provider.Entry {
	var list []provider.Entry
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		entry := provider.Entry{
			Name: name, Type: cmp.Or(e.Type, name), BaseURL: e.BaseURL, KeyEnv: e.KeyEnv, AllowPrivate: e.AllowPrivate, Proxy: e.Proxy, Local: e.Local,
			Engine: provider.Engine{Command: e.Command, Retries: e.Retries, Env: e.Env, ConfigDir: e.ConfigDir, Observe: e.Observe},
		}
		for _, model := range slices.Sorted(maps.Keys(e.Models)) {
			entry.Models = append(entry.Models, infoOf(e.Models[model], model))
		}
		list = append(list, entry)
	}
	return list
}

// infoOf converts a model's entry to package provider's form.
func infoOf(e config.Model, name string) provider.ModelInfo {
	info := provider.ModelInfo{Name: name, ContextTokens: int(e.ContextTokens), ThinksSilently: e.ThinksSilently}
	info.NoImages, info.NoTools, info.NoSchema, info.Prefill = not(e.Images), not(e.Tools), not(e.JSONSchema), e.Prefill
	return info
}

// not negates a setting that is set; nil stays nil.
func not(said *bool) *bool {
	if said == nil {
		return nil
	}
	return new(!*said)
}

// Warning is what people should know about the program behind a model, "" if nothing.
func (m *Models) Warning(ctx context.Context, model string) string {
	entry, _, _ := strings.Cut(model, "/")
	if !m.Set.Has(model) {
		return "" // the run reports it
	}
	return m.Set.Warning(ctx, entry)
}

// Close releases what the models hold: connections, programs, the demo's provider.
func (m *Models) Close() {
	m.Set.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Server != nil {
		_ = m.Server.Close()
		_ = m.Lab.Close()
	}
}
