package openai

import (
	"context"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/dialect"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// DefaultBaseURL is OpenAI's own.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config is where and how to ask. The zero value of each field but Key will do.
type Config struct {
	Name    string                 // the entry's name; "openai"
	Key     func() (string, error) // asked at each attempt; on this machine there may be none
	KeyEnv  string                 // the variable that people set; "OPENAI_API_KEY" for OpenAI itself
	BaseURL string                 // including its version; DefaultBaseURL

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
	imitator bool
	noImages func(model string) bool
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
		name: cfg.Name, client: client, imitator: !isOpenAI(cfg.BaseURL), noImages: cfg.NoImages,
		key: observe.Key{Get: cfg.Key, Env: cfg.KeyEnv},
	}, nil
}

// isOpenAI reports whether base is OpenAI's, or Microsoft's service of the same API.
func isOpenAI(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

func (cfg Config) withDefaults() Config {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.KeyEnv == "" && cfg.BaseURL == DefaultBaseURL {
		cfg.KeyEnv = "OPENAI_API_KEY"
	}
	if cfg.Name == "" {
		cfg.Name = "openai"
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
	body, repairs, err := encode(target{
		model: wireModel, imitator: m.imitator, noImages: m.noImages != nil && m.noImages(wireModel),
	}, request)
	if err != nil {
		return observe.Ask{}, observe.PromptFailure(m.name, request.Model, err)
	}
	key, err := m.key.For(m.client, request.Model)
	if err != nil {
		return observe.Ask{}, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return observe.Ask{
		Model: request.Model, Path: "/chat/completions", Header: header, Body: body,
		Secrets: observe.NewSecrets(key), Decoder: NewDecoder(), Repairs: repairs,
	}, nil
}
