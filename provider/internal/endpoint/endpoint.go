package endpoint

import (
	"cmp"
	"context"
	"iter"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/provider/internal/reach"
	"github.com/mulligan-run/mulligan/wire"
)

// Config says where and how to ask. Every field but Key may be zero.
type Config struct {
	Name      string                 // the entry's name; "" = the wire's own
	Key       func() (string, error) // called at each attempt; a service on this machine may have none
	KeyNeeded bool                   // a key is required even on this machine
	KeyEnv    string                 // the variable that people set; "" = the wire's own, for its own service only
	BaseURL   string                 // "" = the wire's own service; if New adds the API's version, it may be left out

	AllowPrivate   bool          // connections to private addresses are allowed, even over http
	ConnectTimeout time.Duration // for requests without their own; 0 = 10 s
	Proxy          string        // its address, as a URL or host:port; "" = none, whatever the environment says
	ProxySetting   string        // where it was set, for people

	Known *redact.Known // secrets that no answer may contain; keys are added to it; nil = only those of this entry

	Capabilities func(model string) llm.Capabilities // of a model by its name on the wire; nil = unknown

	Classify failure.Classifier // classifies errors; nil = failure.Classify

	// DialContext or RoundTripper replace the dial or the whole transport.
	DialContext  func(ctx context.Context, network, address string) (net.Conn, error)
	RoundTripper http.RoundTripper
}

// Wire is what differs between the adapters.
type Wire struct {
	Name    string // the default name of an entry, and the name of the wire in native requests
	BaseURL string // of the wire's own service
	KeyEnv  string // the variable that holds its key

	Path    func(base, model string, stream bool) string // after the base URL; model is the name on the wire
	InPath  bool                                         // the model is named in the path instead of the body
	Other   func(base, path string) string               // the URL of another path of the API, such as "/v1/files", which includes the API's version
	Own     func(base string) bool                       // whether base is the wire's own service, if requests to it differ; nil = they do not
	Header  func(h http.Header, key string)              // adds the wire's headers; key may be empty
	Encode  func(to wire.Target, request llm.Request) (body []byte, changed []llm.Repair, err error)
	Decoder func() wire.Decoder
}

// Model is the API as an llm.Model. It is safe for concurrent use.
type Model struct {
	cfg    Config
	wire   Wire
	own    bool // the API is the wire's own service, and requests to it differ
	client *observe.Client
}

// New makes a Model. An error says what is wrong with the configuration.
func New(cfg Config, wire Wire) (*Model, error) {
	cfg.Name = cmp.Or(cfg.Name, wire.Name)
	cfg.BaseURL = cmp.Or(cfg.BaseURL, wire.BaseURL)
	if cfg.KeyEnv == "" && cfg.BaseURL == wire.BaseURL {
		cfg.KeyEnv = wire.KeyEnv
	}
	if cfg.Known == nil {
		cfg.Known = &redact.Known{}
	}
	client, err := observe.New(observe.Config{
		Provider: cfg.Name, BaseURL: cfg.BaseURL, AllowPrivate: cfg.AllowPrivate,
		ConnectTimeout: cfg.ConnectTimeout, Proxy: cfg.Proxy, ProxySetting: cfg.ProxySetting,
		DialContext: cfg.DialContext, RoundTripper: cfg.RoundTripper, Classify: cfg.Classify,
	})
	if err != nil {
		return nil, err
	}
	own := wire.Own != nil && wire.Own(cfg.BaseURL)
	return &Model{cfg, wire, own, client}, nil
}

// Loopback reports whether the API is on this machine.
func (m *Model) Loopback() bool { return m.client.Loopback() }

// Proxy is the proxy on the way to the API, as host:port, and where it was set; "" = none.
func (m *Model) Proxy() (address, setting string) { return m.client.Proxy() }

// TryProxy makes the proxy connect to the API, without sending the API anything. The error is a
// failure.
func (m *Model) TryProxy(ctx context.Context) error { return m.client.TryProxy(ctx) }

// Host is where requests connect to: the API, or the proxy on the way to it.
func (m *Model) Host() reach.Host { return m.client.Host() }

// Interruptible implements llm.Interruptible: a request of net/http ends with its context.
func (m *Model) Interruptible() {}

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return m.client.Stream(ctx, func() (observe.Ask, error) { return m.Ask(request) })
}

// Ask is what is sent for request. If there is an error, which is a failure, nothing is sent.
func (m *Model) Ask(request llm.Request) (observe.Ask, error) {
	to := wire.Target{Model: strings.TrimPrefix(request.Model, m.cfg.Name+"/"), Own: m.own}
	if m.cfg.Capabilities != nil {
		able := m.cfg.Capabilities(to.Model)
		to.NoImages, to.Prefill = able.NoImages, able.Prefill
	}
	ask := observe.Ask{Model: request.Model, Connect: request.ConnectTimeout, Decoder: m.wire.Decoder(), OnHeaders: request.OnHeaders}
	var err error
	native := m.native(request)
	if ask.Frames = native != nil; ask.Frames {
		ask.Body, err = m.bodyOf(native, to.Model)
	} else {
		ask.Body, ask.Repairs, err = m.wire.Encode(to, request)
	}
	if err != nil {
		return observe.Ask{}, observe.PromptFailure(m.cfg.Name, request.Model, err)
	}
	ask.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	known, err := m.authorize(ask.Header, request.Model, request.Credential)
	if err != nil {
		return observe.Ask{}, err
	}
	ask.Secrets = observe.SecretsOf(known)
	ask.Path = m.wire.Path(m.cfg.BaseURL, to.Model, native == nil || native.Stream)
	if native != nil {
		ask.Path = withQuery(ask.Path, native.Query)
		ask.Header.Del("Accept") // the caller's own, or none
		addHeader(ask.Header, native.Header)
	}
	return ask, nil
}

// Bearer sends key in the form that most services accept.
func Bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}
