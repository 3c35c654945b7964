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
	Type         string // what it is: one of KnownTypes
	BaseURL      string // "" = the type's own
	KeyEnv       string // the environment variable that holds the key, read at each attempt; "" = the type's own, for its own address
	Key          string // the key itself, before KeyEnv
	AllowPrivate bool   // private network addresses may be connected to
	Local        bool   // it is a model server that may load a model first, as those are that the known types say
	Proxy        string // address of a proxy, as a URL or host:port; NoProxy = none; "" = the environment's, see [Set.Proxy]
	Models       []ModelInfo
	Engine       Engine // of a type that is a program
}

// Engine is a configured program that runs turns by itself; TypePi is one. The zero value of
// each field but Folder will do.
type Engine struct {
	Command   []string // how it is started, before its arguments
	Retries   string   // who tries again what failed: "mulligan" or "pi"
	Env       []string // names of the variables that it gets beside the usual ones; nil = the usual keys
	ConfigDir string   // where the person's own keeps its logins and models
	Observe   bool     // its requests pass a proxy of ours on this machine, which sees how they go
	Folder    string   // an absolute path below which it keeps its own things
}

// ModelInfo is what is known of one of an entry's models; zero fields are not known.
type ModelInfo struct {
	Name           string // without the entry's name
	ContextTokens  int
	InputPrice     float64 // US dollars per million tokens
	OutputPrice    float64
	NoImages       *bool // it takes no pictures
	NoTools        *bool // it calls no tools
	NoSchema       *bool // it does not keep to a JSON schema
	Prefill        *bool // it goes on with a last message that is its own
	ThinksSilently *bool // it may be silent for minutes before it speaks, and all is well
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

// WithLogger tells l what people should know about the programs behind models.
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.logger = l } }

// WithKnown has the Set know the secrets of known as its own, and add its own to them: for the
// program that shares them with its log.
func WithKnown(known *redact.Known) Option { return func(s *settings) { s.known = known } }

// WithClassifier has by name every failure of a provider, instead of failure.Classify: for
// rows of somebody's own (failure.Local), which may be others from one failure to the next.
func WithClassifier(by failure.Classifier) Option { return func(s *settings) { s.classify = by } }

// WithDial has every provider reached by dial instead of the network: for tests and measurements, whose
// providers are elsewhere.
func WithDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(s *settings) { s.dial = dial }
}

// Set is the providers of one configuration. It is safe for concurrent use.
type Set struct {
	settings settings
	entries  []Entry
	adapters map[string]adapter
	keyed    map[string]bool // entries that are not asked without a key, wherever they are
}

// adapter is what a Set needs of one.
type adapter interface {
	llm.Model
	Loopback() bool // the model is served on this machine
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

// add completes the entry of that index and makes its adapter.
func (s *Set) add(i int) error {
	named := s.entries[i].KeyEnv != "" // by the person who configured it, who wants a key to be sent
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

// spoken is how a wire is spoken: by an adapter, or by somebody else's client whose
// answers a decoder understands.
type spoken struct {
	adapt   func(cfg endpoint.Config) (*endpoint.Model, error)
	decoder func() wire.Decoder
	base    string // URL of the wire's own service
}

// wires is where the adapters are named.
var wires = map[string]spoken{
	TypeAnthropic: {anthropic.New, anthropic.NewDecoder, anthropic.DefaultBaseURL},
	TypeOpenAI:    {openai.New, openai.NewDecoder, openai.DefaultBaseURL},
	TypeResponses: {responses.New, responses.NewDecoder, responses.DefaultBaseURL},
	TypeGemini:    {gemini.New, gemini.NewDecoder, gemini.DefaultBaseURL},
}

// decoderFor understands the answer to a request with that path, on whatever wire; nil if it
// is on none.
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

// Redact takes out of text the keys of all entries, and the passwords of their proxies, in
// whatever spelling they stand there.
func (s *Set) Redact(text string) string { return s.settings.known.Text(text) }

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

// Has reports whether there is what it takes to ask the model of that full name: a
// key, or a provider on this machine, which needs none, whether it runs or not. An engine
// needs its program, and looks after its keys itself.
func (s *Set) Has(full string) bool {
	e, ok := s.entry(full)
	if !ok {
		return false
	}
	if engine, is := s.adapters[e.Name].(*pi.Engine); is {
		return engine.Installed()
	}
	return strings.TrimSpace(s.key(e)) != "" || s.adapters[e.Name].Loopback() && !s.keyed[e.Name]
}

// Forward sends a request to another path of an entry's API than a model's call: as it is, but
// with the entry's own credential in the place of the caller's, unless own is for that entry. Of the request's URL path, which
// has the API's version ("/v1/files"), and query count. Nothing is tried twice, no redirect is
// followed, and known secrets are taken out of the answer. The error is a *failure.Failure.
func (s *Set) Forward(entry string, r *http.Request, own *llm.Credential) (*http.Response, error) {
	api, ok := s.adapters[entry].(interface {
		Forward(r *http.Request, own *llm.Credential) (*http.Response, error)
	})
	if !ok {
		return nil, observe.PromptFailure(entry, "", fmt.Errorf("no provider %q has an API", entry))
	}
	return api.Forward(r, own)
}

// KeyEnv is the environment variable that the key of the entry of that name is read from; ""
// if it has its key from elsewhere, or needs none.
func (s *Set) KeyEnv(entry string) string {
	e, ok := s.entry(entry + "/")
	if !ok || e.Key != "" {
		return ""
	}
	return e.KeyEnv
}

// Warning says what is wrong with the program behind the entry of that name, and what to
// do about it; "" if nothing is, or if there is none.
func (s *Set) Warning(ctx context.Context, entry string) string {
	if engine, ok := s.adapters[entry].(*pi.Engine); ok {
		return engine.Warning(ctx)
	}
	return ""
}

// Forget removes what engines keep of the conversations of these names.
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

// Close ends the programs that the Set has started. It is of no use afterwards.
func (s *Set) Close() {
	var all sync.WaitGroup
	for _, made := range s.adapters {
		if engine, ok := made.(*pi.Engine); ok {
			all.Go(engine.Close)
		}
	}
	all.Wait()
}

// Loopback reports whether the model of that full name is served on this machine.
func (s *Set) Loopback(full string) bool {
	e, ok := s.entry(full)
	return ok && s.adapters[e.Name].Loopback()
}

// Local reports whether the model of that full name is one of a local model server: of a
// type that is one, or of an entry that says so. A gateway on this machine is none.
func (s *Set) Local(full string) bool {
	e, ok := s.entry(full)
	return ok && e.Local
}

// Entries lists the entries in the order in which they were configured, with what
// their types stand for.
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
