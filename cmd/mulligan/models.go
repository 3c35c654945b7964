package main

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

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// The demo's provider entries. The names are reserved: unless a provider of that
// name is configured, a model of these entries starts the demo's provider inside
// this process, so that a run of the demo can be recovered by another command.
const (
	demoFable = "fable/" + faultlab.DemoModel    // Anthropic's wire
	demoAtlas = "atlas/" + faultlab.DemoFallback // OpenAI's
)

// usualModels are what `run` asks when no model is configured, by the key that is
// in the environment.
var usualModels = []struct{ entry, key, model string }{
	{"anthropic", "ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-5"},
	{"openai", "OPENAI_API_KEY", "openai/gpt-5.2"},
	{"gemini", "GEMINI_API_KEY", "gemini/gemini-2.5-pro"},
	{"openrouter", "OPENROUTER_API_KEY", "openrouter/anthropic/claude-sonnet-4.5"},
}

// usualKeys are the variables that choose one of usualModels, in words.
func usualKeys() string {
	var keys []string
	for _, usual := range usualModels {
		keys = append(keys, usual.key)
	}
	last := len(keys) - 1
	return strings.Join(keys[:last], ", ") + " or " + keys[last]
}

// models finds models: the configured ones, and the demo's.
type models struct {
	set   *provider.Set
	own   map[string]bool // entries that are configured
	known *corrections    // what their failures are called
	calm  bool            // the demo's provider has recovered: a person comes back later, to runs that it failed

	mu     sync.Mutex
	lab    *faultlab.Lab
	server *faultlab.Server
	demo   *provider.Set
}

func newModels(c *config) (*models, error) {
	entries := map[string]providerEntry{}
	for _, known := range provider.Known() {
		entries[known.Name] = providerEntry{}
	}
	maps.Copy(entries, c.Providers)
	list := providerEntries(entries)
	if dir, err := c.engineDir(); err == nil { // without a place for it an engine says so when it is asked
		for i := range list {
			list[i].Engine.Folder = filepath.Join(dir, list[i].Name)
		}
	}
	known, err := c.corrections(os.Getenv)
	if err != nil {
		return nil, err
	}
	set, err := provider.New(list, provider.WithKnown(&secrets), provider.WithClassifier(known.Classify))
	if err != nil {
		return nil, err
	}
	m := &models{set: set, own: map[string]bool{}, known: known}
	for name := range entries {
		m.own[name] = true
	}
	return m, nil
}

// demoModels are the demo's alone: it is the same whatever this computer's environment, its
// configuration and what was learned on it say.
func demoModels() (*models, error) {
	set, err := provider.New(nil, provider.WithKnown(&secrets))
	return &models{set: set, known: &corrections{}}, err
}

// engineDir is below where engines keep what is theirs.
func (c *config) engineDir() (string, error) {
	dir, err := c.stateDir(os.Getenv)
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, "engines"))
}

// choose settles which model a run begins with.
func (m *models) choose(c *config) error {
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

// usual chooses by the keys that are set, where nothing is configured.
func (m *models) usual(c *config) {
	for _, usual := range usualModels {
		if c.Model == "" && m.set.Has(usual.model) {
			c.Model = usual.model
		}
	}
}

func errNoModel() error {
	return fmt.Errorf("no model is chosen and no key is set: set %s (export %s=…), or choose a model with --model or in mulligan.yaml (`%s doctor` tells more). Without any key: `%s demo`",
		usualKeys(), usualModels[0].key, invoked(), invoked())
}

// lacks says what is missing for a run to begin with the configured model; nil if nothing is.
func (m *models) lacks(c *config) error {
	entry, _, _ := strings.Cut(c.Model, "/")
	switch key := m.KeyEnv(entry); {
	case c.Model == "":
		return errNoModel()
	case m.Has(c.Model) || key == "":
		return nil
	default:
		return fmt.Errorf("%s is not set, so that nothing can be asked of %s: export %s=…, and start this again", key, c.Model, key)
	}
}

// Model finds a model by its full name.
func (m *models) Model(name string) (llm.Model, error) {
	if !m.isDemo(name) {
		return m.set.Model(name)
	}
	demo, err := m.startDemo()
	if err != nil {
		return nil, err
	}
	return demo.Model(name)
}

// Has reports whether the model could be called now.
func (m *models) Has(name string) bool { return m.isDemo(name) || m.set.Has(name) }

// Redact takes the keys of all providers out of text.
func (m *models) Redact(text string) string { return m.set.Redact(text) }

// KeyEnv is the environment variable that an entry's key is read from, or "".
func (m *models) KeyEnv(entry string) string {
	if m.isDemo(entry + "/") {
		return ""
	}
	return m.set.KeyEnv(entry)
}

// ContextTokens is the size of its context window, 0 where it is not known.
func (m *models) ContextTokens(name string) int64 {
	if m.isDemo(name) {
		return 0
	}
	return m.set.ContextTokens(name)
}

// thinksSilently reports whether the model is known to say nothing while it thinks.
func (m *models) thinksSilently(name string) bool {
	return !m.isDemo(name) && m.set.ThinksSilently(name)
}

// local reports whether the model is one of a local model server.
func (m *models) local(name string) bool {
	return !m.isDemo(name) && m.set.Local(name)
}

// Offline reports whether none of the models can be reached because this machine has no
// connection.
func (m *models) Offline(ctx context.Context, models []string) bool {
	return !slices.ContainsFunc(models, m.isDemo) && m.set.Offline(ctx, models)
}

func (m *models) isDemo(name string) bool {
	entry, _, _ := strings.Cut(name, "/")
	return (name == demoFable || name == demoAtlas) && !m.own[entry]
}

// playsDemo reports whether the model is the demo's: its own, or one that is configured by
// the demo's names, as "demo --serve" says, and is on this machine.
func (m *models) playsDemo(name string) bool {
	entry, _, _ := strings.Cut(name, "/")
	fable, _, _ := strings.Cut(demoFable, "/")
	atlas, _, _ := strings.Cut(demoAtlas, "/")
	return m.isDemo(name) || (entry == fable || entry == atlas) && m.set.Loopback(name)
}

// startDemo starts the demo's provider, once.
func (m *models) startDemo() (*provider.Set, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.demo != nil {
		return m.demo, nil
	}
	m.lab = faultlab.Demo()
	if m.calm {
		m.lab.Script(faultlab.DemoModel, faultlab.Answer(faultlab.DemoAnswer))
	}
	server, err := m.lab.Listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the demo's provider: %w", err)
	}
	m.server = server
	m.demo, err = provider.New(demoEntries(server.URL()), provider.WithClassifier(m.known.Classify))
	return m.demo, err
}

// demoEntries are the demo's provider as two entries, one per wire. It wants a key,
// and takes any.
func demoEntries(url string) []provider.Entry {
	return []provider.Entry{
		{Name: "fable", Type: provider.TypeAnthropic, BaseURL: url, Key: "demo"},
		{Name: "atlas", Type: provider.TypeOpenAI, BaseURL: url + "/v1", Key: "demo"},
	}
}

// providerEntries is the config in the provider package's words.
func providerEntries(entries map[string]providerEntry) []provider.Entry {
	var list []provider.Entry
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		entry := provider.Entry{
			Name: name, Type: cmp.Or(e.Type, name), BaseURL: e.BaseURL, KeyEnv: e.KeyEnv, AllowPrivate: e.AllowPrivate, Proxy: e.Proxy, Local: e.Local,
			Engine: provider.Engine{Command: e.Command, Retries: e.Retries, Env: e.Env, ConfigDir: e.ConfigDir, Observe: e.Observe},
		}
		for _, model := range slices.Sorted(maps.Keys(e.Models)) {
			entry.Models = append(entry.Models, e.Models[model].info(model))
		}
		list = append(list, entry)
	}
	return list
}

// info is a model's entry in the provider package's words.
func (e modelEntry) info(name string) provider.ModelInfo {
	info := provider.ModelInfo{Name: name, ContextTokens: int(e.ContextTokens), ThinksSilently: e.ThinksSilently}
	if e.Images != nil {
		info.NoImages = new(!*e.Images)
	}
	if e.Price != nil {
		info.InputPrice, info.OutputPrice = e.Price.Input, e.Price.Output
	}
	return info
}

// warning is what people should know of the program behind a model that is there.
func (m *models) warning(ctx context.Context, model string) string {
	entry, _, _ := strings.Cut(model, "/")
	if !m.set.Has(model) {
		return "" // the run says so
	}
	return m.set.Warning(ctx, entry)
}

func (m *models) close() {
	m.set.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.server != nil {
		_ = m.server.Close()
		_ = m.lab.Close()
	}
}
