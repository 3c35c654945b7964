package gemini

import (
	"context"
	"iter"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/dialect"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// DefaultBaseURL is Google's own.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Config is where and how to ask. The zero value of each field but Key will do.
type Config struct {
	Name    string                 // the entry's name; "gemini"
	Key     func() (string, error) // asked at each attempt; on this machine there may be none
	KeyEnv  string                 // the variable that people set; "GEMINI_API_KEY" for Google itself
	BaseURL string                 // with or without /v1beta; DefaultBaseURL

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
	key      observe.Key
	client   *observe.Client
	noImages func(model string) bool
	path     string // up to the model's name
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
		name: cfg.Name, client: client, path: observe.Path(cfg.BaseURL, "/v1beta", "/models/"),
		noImages: cfg.NoImages, key: observe.Key{Get: cfg.Key, Env: cfg.KeyEnv},
	}, nil
}

func (cfg Config) withDefaults() Config {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.KeyEnv == "" && cfg.BaseURL == DefaultBaseURL {
		cfg.KeyEnv = "GEMINI_API_KEY"
	}
	if cfg.Name == "" {
		cfg.Name = "gemini"
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
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	if key != "" {
		header.Set("X-Goog-Api-Key", key)
	}
	return observe.Ask{
		Model: request.Model, Path: m.path + url.PathEscape(wireModel) + ":streamGenerateContent?alt=sse", Header: header, Body: body,
		Secrets: observe.NewSecrets(key), Decoder: NewDecoder(), Repairs: repairs,
	}, nil
}
