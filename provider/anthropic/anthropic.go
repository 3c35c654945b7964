package anthropic

import (
	"context"
	"iter"
	"net"
	"net/http"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/dialect"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

const (
	// DefaultBaseURL is Anthropic's own.
	DefaultBaseURL = "https://api.anthropic.com"
	// DefaultVersion is the API version that this package was written for.
	DefaultVersion = "2023-06-01"
	// DefaultMaxTokens is the output limit of a request that names none.
	DefaultMaxTokens = 8192
)

// Config is where and how to ask. The zero value of each field but Key will do.
type Config struct {
	Name    string                 // the entry's name; "anthropic"
	Key     func() (string, error) // asked at each attempt; on this machine there may be none
	KeyEnv  string                 // the variable that people set; "ANTHROPIC_API_KEY" for Anthropic itself
	BaseURL string                 // with or without /v1; DefaultBaseURL
	Version string                 // DefaultVersion

	AllowPrivate   bool // private addresses may be connected to, also over http
	ConnectTimeout time.Duration
	Proxy          string // URL; the environment's is never used

	NoImages func(model string) bool // whether the model, by its name on the wire, takes no pictures; nil = all take them

	// DialContext or RoundTripper replace the dial or the whole transport.
	DialContext  func(ctx context.Context, network, address string) (net.Conn, error)
	RoundTripper http.RoundTripper
}

// Model is the API as an llm.Model. It is safe for concurrent use.
type Model struct {
	name     string
	version  string
	key      observe.Key
	client   *observe.Client
	noImages func(model string) bool
	path     string
}

// New makes a Model. An error says what is wrong with the configuration.
func New(cfg Config) (*Model, error) {
	cfg = cfg.withDefaults()
	client, err := observe.New(observe.Config{
		Provider: cfg.Name, BaseURL: cfg.BaseURL, AllowPrivate: cfg.AllowPrivate,
		ConnectTimeout: cfg.ConnectTimeout, Proxy: cfg.Proxy,
		DialContext: cfg.DialContext, RoundTripper: cfg.RoundTripper,
	})
	if err != nil {
		return nil, err
	}
	return &Model{
		name: cfg.Name, version: cfg.Version, client: client, path: observe.Path(cfg.BaseURL, "/v1", "/messages"),
		noImages: cfg.NoImages, key: observe.Key{Get: cfg.Key, Env: cfg.KeyEnv},
	}, nil
}

func (cfg Config) withDefaults() Config {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&cfg.Name, "anthropic"},
		{&cfg.BaseURL, DefaultBaseURL},
		{&cfg.Version, DefaultVersion},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	if cfg.KeyEnv == "" && cfg.BaseURL == DefaultBaseURL {
		cfg.KeyEnv = "ANTHROPIC_API_KEY"
	}
	return cfg
}

// Loopback reports whether the API is on this machine.
func (m *Model) Loopback() bool { return m.client.Loopback() }

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return m.client.Stream(ctx, func() (observe.Ask, error) { return m.ask(request) })
}

func (m *Model) ask(request llm.Request) (observe.Ask, error) {
	wireModel := dialect.WireModel(m.name, request.Model)
	body, repairs, err := encode(wireModel, request, m.noImages != nil && m.noImages(wireModel))
	if err != nil {
		return observe.Ask{}, observe.PromptFailure(m.name, request.Model, err)
	}
	key, err := m.key.For(m.client, request.Model)
	if err != nil {
		return observe.Ask{}, err
	}
	header := http.Header{
		"Content-Type":      {"application/json"},
		"Accept":            {"text/event-stream"},
		"Anthropic-Version": {m.version},
	}
	if key != "" {
		header.Set("X-Api-Key", key)
	}
	return observe.Ask{
		Model: request.Model, Path: m.path, Header: header, Body: body,
		Secrets: observe.NewSecrets(key), Decoder: NewDecoder(), Repairs: repairs,
	}, nil
}
