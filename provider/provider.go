package provider

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/provider/openai"
)

// The types of entry, which are the wires.
const (
	TypeAnthropic = "anthropic"
	TypeOpenAI    = "openai"
)

// Entry is one configured provider.
type Entry struct {
	Name         string // the part of a model's full name before the slash
	Type         string // the wire: TypeAnthropic or TypeOpenAI
	BaseURL      string // "" = the wire's own service
	KeyEnv       string // the environment variable that holds the key, read at each attempt
	Key          string // the key itself, before KeyEnv
	AllowPrivate bool   // private network addresses may be connected to
	Proxy        string // URL of a proxy; the environment's is never used
	Models       []ModelInfo
}

// ModelInfo is what is known of one of an entry's models; 0 = not known.
type ModelInfo struct {
	Name          string // without the entry's name
	ContextTokens int
	InputPrice    float64 // US dollars per million tokens
	OutputPrice   float64
}

// Defaults are the entries that work with no configuration but a key.
func Defaults() []Entry {
	return []Entry{
		{Name: "anthropic", Type: TypeAnthropic, BaseURL: anthropic.DefaultBaseURL, KeyEnv: "ANTHROPIC_API_KEY"},
		{Name: "openai", Type: TypeOpenAI, BaseURL: openai.DefaultBaseURL, KeyEnv: "OPENAI_API_KEY"},
	}
}

// Option is a setting of a Set.
type Option func(*settings)

type settings struct {
	env     func(name string) string
	connect time.Duration
}

// WithEnv reads keys from env instead of the process's environment.
func WithEnv(env func(name string) string) Option { return func(s *settings) { s.env = env } }

// WithConnectTimeout bounds dial and TLS handshake (default 10 s).
func WithConnectTimeout(d time.Duration) Option { return func(s *settings) { s.connect = d } }

// adapter is a wire's Model.
type adapter interface {
	llm.Model
	Loopback() bool
}

// Set is the providers of one configuration. It is safe for concurrent use.
type Set struct {
	settings settings
	entries  []Entry
	adapters map[string]adapter
}

// New makes a Set. The error names the entry that is wrong, and why.
func New(entries []Entry, opts ...Option) (*Set, error) {
	s := &Set{settings: settings{env: os.Getenv}, entries: slices.Clone(entries), adapters: map[string]adapter{}}
	for _, opt := range opts {
		opt(&s.settings)
	}
	for _, e := range s.entries {
		if err := s.add(e); err != nil {
			return nil, fmt.Errorf("provider %q: %w", e.Name, err)
		}
	}
	return s, nil
}

func (s *Set) add(e Entry) error {
	switch {
	case e.Name == "" || strings.ContainsAny(e.Name, "/ \t\n"):
		return fmt.Errorf("a name is needed, without slash or space")
	case s.adapters[e.Name] != nil:
		return fmt.Errorf("there are two of this name")
	}
	made, err := s.adapter(e)
	if err != nil {
		return err
	}
	s.adapters[e.Name] = made
	return nil
}

func (s *Set) adapter(e Entry) (adapter, error) {
	key := func() (string, error) { return s.key(e), nil }
	switch e.Type {
	case TypeAnthropic:
		return anthropic.New(anthropic.Config{
			Name: e.Name, Key: key, KeyEnv: e.KeyEnv, BaseURL: e.BaseURL,
			AllowPrivate: e.AllowPrivate, ConnectTimeout: s.settings.connect, Proxy: e.Proxy,
		})
	case TypeOpenAI:
		return openai.New(openai.Config{
			Name: e.Name, Key: key, KeyEnv: e.KeyEnv, BaseURL: e.BaseURL,
			AllowPrivate: e.AllowPrivate, ConnectTimeout: s.settings.connect, Proxy: e.Proxy,
		})
	}
	return nil, fmt.Errorf("type %q is not known; there are %s and %s", e.Type, TypeAnthropic, TypeOpenAI)
}

func (s *Set) key(e Entry) string {
	if e.Key != "" || e.KeyEnv == "" {
		return e.Key
	}
	return s.settings.env(e.KeyEnv)
}

// Model is the model of that full name, "provider/model".
func (s *Set) Model(full string) (llm.Model, error) {
	name, model, ok := strings.Cut(full, "/")
	if !ok || name == "" || model == "" {
		return nil, fmt.Errorf("model needs the form provider/model, not %q", full)
	}
	found := s.adapters[name]
	if found == nil {
		return nil, fmt.Errorf("no provider %q; there are %s", name, strings.Join(s.names(), ", "))
	}
	return found, nil
}

// Has reports whether there are credentials to ask the model of that full name;
// a provider on this machine needs none.
func (s *Set) Has(full string) bool {
	e, ok := s.entry(full)
	return ok && (strings.TrimSpace(s.key(e)) != "" || s.adapters[e.Name].Loopback())
}

// Loopback reports whether the model of that full name is served on this machine.
func (s *Set) Loopback(full string) bool {
	e, ok := s.entry(full)
	return ok && s.adapters[e.Name].Loopback()
}

// Info is what is known of the model of that full name.
func (s *Set) Info(full string) (ModelInfo, bool) {
	e, _ := s.entry(full)
	for _, m := range e.Models {
		if e.Name+"/"+m.Name == full {
			return m, true
		}
	}
	return ModelInfo{}, false
}

// ContextTokens is the size of the model's context window, 0 where it is not known.
func (s *Set) ContextTokens(full string) int64 {
	info, _ := s.Info(full)
	return int64(info.ContextTokens)
}

// Entries lists the entries in the order in which they were configured.
func (s *Set) Entries() []Entry { return slices.Clone(s.entries) }

func (s *Set) entry(full string) (Entry, bool) {
	name, _, _ := strings.Cut(full, "/")
	for _, e := range s.entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

func (s *Set) names() []string {
	var names []string
	for _, e := range s.entries {
		names = append(names, e.Name)
	}
	return names
}
