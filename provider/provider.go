package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/provider/gemini"
	"github.com/mulligan-run/mulligan/provider/internal/endpoint"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/provider/openai"
	"github.com/mulligan-run/mulligan/provider/pi"
	"github.com/mulligan-run/mulligan/provider/responses"
	"github.com/mulligan-run/mulligan/wire"
)

// Entry is one configured provider.
type Entry struct {
	Name         string // the part of a model's full name before the slash
	Type         string // one of KnownTypes
	BaseURL      string // "" = the type's own
	KeyEnv       string // the environment variable with the key, read at each attempt; "" = the type's own, if the address is the type's own
	Key          string // the key itself, preferred to KeyEnv
	AllowPrivate bool   // connections to addresses in private networks are allowed
	Local        bool   // a model server that may have to load a model first, like some known types
	Proxy        string // address of a proxy, as a URL or host:port; NoProxy = none; "" = the environment's, see [Set.Proxy]
	Models       []ModelInfo
	Engine       Engine // for a type that is a program
}

// Engine is a configured program that runs turns by itself; TypePi is one. Every field but Folder
// may be zero.
type Engine struct {
	Command   []string // the program and its first arguments
	Retries   string   // which one retries failed requests: "mulligan" or "pi"
	Env       []string // names of the variables that it gets in addition to the usual ones; nil = the usual keys
	ConfigDir string   // where the person's own installation keeps its logins and models
	Observe   bool     // its requests go through a proxy of ours on this machine, which sees how they go
	Folder    string   // an absolute path of a folder for its own files
}

// ModelInfo is what is known about one of an entry's models; zero fields are unknown.
type ModelInfo struct {
	Name           string // without the entry's name
	ContextTokens  int
	NoImages       *bool // it accepts no images
	NoTools        *bool // it cannot call tools
	NoSchema       *bool // it cannot follow a JSON schema
	Prefill        *bool // it continues a last message of its own
	ThinksSilently *bool // it may be silent for minutes before it answers
}

// Option is a setting of a Set.
type Option func(*settings)

type settings struct {
	env    func(name string) string
	logger *slog.Logger
	known  *redact.Known

	classify failure.Classifier
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// WithEnv reads keys from env instead of the process's environment.
func WithEnv(env func(name string) string) Option { return func(s *settings) { s.env = env } }

// WithLogger logs to l what people should know about the programs behind models.
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.logger = l } }

// WithKnown makes the Set use known for its secrets: it hides the ones in it, and adds its own. It
// is for programs that share them with their log.
func WithKnown(known *redact.Known) Option { return func(s *settings) { s.known = known } }

// WithClassifier classifies every failure of a provider, instead of failure.Classify. It is for a
// table of one's own (failure.Local), which may change between failures.
func WithClassifier(by failure.Classifier) Option { return func(s *settings) { s.classify = by } }

// WithDial reaches every provider through dial instead of the network. It is for tests and
// measurements.
func WithDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(s *settings) { s.dial = dial }
}

// Set is the providers of one configuration. It is safe for concurrent use.
type Set struct {
	settings settings
	entries  []Entry
	adapters map[string]adapter
	keyed    map[string]bool // entries that are not asked without a key, even on this machine
}

// adapter is what a Set needs from an adapter.
type adapter interface {
	llm.Model
	Loopback() bool // whether the service is on this machine
}

// New makes a Set. The error names the entry that is wrong, and why.
func New(entries []Entry, opts ...Option) (*Set, error) {
	s := &Set{settings: settings{env: os.Getenv, known: &redact.Known{}}, entries: slices.Clone(entries), adapters: map[string]adapter{}, keyed: map[string]bool{}}
	for _, opt := range opts {
		opt(&s.settings)
	}
	for i, e := range s.entries {
		if err := s.add(i); err != nil {
			return nil, fmt.Errorf("provider %q: %w", e.Name, err)
		}
	}
	return s, nil
}

// add completes the entry with that index and makes its adapter.
func (s *Set) add(i int) error {
	named := s.entries[i].KeyEnv != "" // by the person who configured it, so a key must be sent
	e, wireName, ok := s.entries[i].complete()
	switch {
	case e.Name == "" || strings.ContainsAny(e.Name, "/ \t\n"):
		return fmt.Errorf("a name is needed, without slash or space")
	case s.adapters[e.Name] != nil:
		return fmt.Errorf("there are two of this name")
	case !ok:
		return fmt.Errorf("type %q is not known; there are %s", e.Type, KnownTypes())
	}
	s.settings.known.Add(strings.TrimSpace(s.key(e)))
	if named && e.Key == "" {
		s.keyed[e.Name] = true
	}
	made, err := s.adapt(e, wireName)
	if err != nil {
		return err
	}
	s.entries[i], s.adapters[e.Name] = e, made
	return nil
}

func (s *Set) adapt(e Entry, wireName string) (adapter, error) {
	if wireName == TypePi {
		ways := func(base string) (string, string, error) { return s.through(e, base) }
		return pi.New(pi.Config{
			Name: e.Name, Command: e.Engine.Command, Retries: pi.Retries(e.Engine.Retries), Env: e.Engine.Env,
			ConfigDir: e.Engine.ConfigDir, Folder: e.Engine.Folder, Logger: s.settings.logger,
			Observe: e.Engine.Observe, Decoders: decoderFor, Proxy: ways, Classify: s.settings.classify,
		})
	}
	proxy, setting, err := s.through(e, cmp.Or(e.BaseURL, wires[wireName].base))
	if err != nil {
		return nil, err
	}
	return wires[wireName].adapt(endpoint.Config{
		Name: e.Name, Key: s.keyOf(e), KeyNeeded: s.keyed[e.Name], KeyEnv: e.KeyEnv, BaseURL: e.BaseURL, AllowPrivate: e.AllowPrivate,
		Proxy: proxy, ProxySetting: setting, Capabilities: s.capabilities(e), Known: s.settings.known, Classify: s.settings.classify,
		DialContext: s.settings.dial,
	})
}

// spoken says how a wire is spoken: by an adapter, or by another client library whose answers a
// decoder reads.
type spoken struct {
	adapt   func(cfg endpoint.Config) (*endpoint.Model, error)
	decoder func() wire.Decoder
	base    string // URL of the wire's own service
}

// wires is the only list of the adapters.
var wires = map[string]spoken{
	TypeAnthropic: {anthropic.New, anthropic.NewDecoder, anthropic.DefaultBaseURL},
	TypeOpenAI:    {openai.New, openai.NewDecoder, openai.DefaultBaseURL},
	TypeResponses: {responses.New, responses.NewDecoder, responses.DefaultBaseURL},
	TypeGemini:    {gemini.New, gemini.NewDecoder, gemini.DefaultBaseURL},
}

// decoderFor gives the decoder for the answer to a request with that path, on any wire; nil if no
// wire has such a path.
func decoderFor(path string) wire.Decoder {
	for end, name := range map[string]string{
		"/messages": TypeAnthropic, "/chat/completions": TypeOpenAI, "/responses": TypeResponses, ":streamGenerateContent": TypeGemini,
	} {
		if strings.HasSuffix(path, end) {
			return wires[name].decoder()
		}
	}
	return nil
}

func (s *Set) keyOf(e Entry) func() (string, error) {
	return func() (string, error) { return s.key(e), nil }
}

func (s *Set) key(e Entry) string {
	if e.Key != "" || e.KeyEnv == "" {
		return e.Key
	}
	return s.settings.env(e.KeyEnv)
}

// Redact removes the keys of all entries, and the passwords of their proxies, from text, in every
// spelling in which they may occur.
func (s *Set) Redact(text string) string {
	if s == nil {
		return text
	}
	return s.settings.known.Text(text)
}

// Model is the model with that full name, "provider/model". It fails if the name has another form,
// or if no entry has the provider's name. Whether the provider has the model turns out with the
// first call.
func (s *Set) Model(full string) (llm.Model, error) {
	if s == nil {
		return nil, errors.New("there are no models: provider.New gave an error instead")
	}
	if err := CheckName(full); err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(full, "/")
	found := s.adapters[name]
	if found == nil {
		return nil, fmt.Errorf("no provider %q; there are %s", name, strings.Join(s.names(), ", "))
	}
	return found, nil
}

// Has reports whether the model with that full name can be asked: there is a key, or the provider
// is on this machine and needs none, whether it is running or not. An engine needs its program, and
// finds its keys itself.
func (s *Set) Has(full string) bool {
	if s == nil {
		return false
	}
	e, ok := s.entry(full)
	if !ok {
		return false
	}
	if engine, is := s.adapters[e.Name].(*pi.Engine); is {
		return engine.Installed()
	}
	return strings.TrimSpace(s.key(e)) != "" || s.adapters[e.Name].Loopback() && !s.keyed[e.Name]
}

// Forward sends a request to another path of an entry's API than that of a model's call. It is sent
// as it is, except that the entry's credential replaces the caller's, unless own is for that entry.
// Only the path of the request's URL, which includes the API's version ("/v1/files"), and its query
// are used. Nothing is retried, no redirect is followed, and known secrets are removed from the
// answer. The error is a *failure.Failure.
func (s *Set) Forward(entry string, r *http.Request, own *llm.Credential) (*http.Response, error) {
	api, ok := s.adapters[entry].(interface {
		Forward(r *http.Request, own *llm.Credential) (*http.Response, error)
	})
	if !ok {
		return nil, observe.PromptFailure(entry, "", fmt.Errorf("no provider %q has an API", entry))
	}
	return api.Forward(r, own)
}

// KeyEnv is the environment variable that holds the key of the entry with that name; "" if the
// key comes from elsewhere, or none is needed.
func (s *Set) KeyEnv(entry string) string {
	e, ok := s.entry(entry + "/")
	if !ok || e.Key != "" {
		return ""
	}
	return e.KeyEnv
}

// Warning says what is wrong with the program behind the entry with that name, and what to do
// about it; "" if nothing is wrong, or there is no program.
func (s *Set) Warning(ctx context.Context, entry string) string {
	if engine, ok := s.adapters[entry].(*pi.Engine); ok {
		return engine.Warning(ctx)
	}
	return ""
}

// Forget removes what engines store of these conversations. It goes on after an error, and joins
// all of them.
func (s *Set) Forget(conversations ...string) error {
	var problems []error
	for _, made := range s.adapters {
		if engine, ok := made.(*pi.Engine); ok {
			for _, name := range conversations {
				problems = append(problems, engine.Forget(name))
			}
		}
	}
	return errors.Join(problems...)
}

// Close ends the programs that the Set has started, and returns when they have ended. The Set
// cannot be used afterwards.
func (s *Set) Close() {
	var all sync.WaitGroup
	for _, made := range s.adapters {
		if engine, ok := made.(*pi.Engine); ok {
			all.Go(engine.Close)
		}
	}
	all.Wait()
}

// Loopback reports whether the model with that full name is served on this machine.
func (s *Set) Loopback(full string) bool {
	e, ok := s.entry(full)
	return ok && s.adapters[e.Name].Loopback()
}

// Local reports whether the model with that full name runs on a local model server, according to
// its type or its entry. A gateway on this machine is not one.
func (s *Set) Local(full string) bool {
	e, ok := s.entry(full)
	return ok && e.Local
}

// Entries lists the entries in the order of the configuration, with the values that their types
// stand for.
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
