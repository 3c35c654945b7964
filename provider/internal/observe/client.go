package observe

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/internal/netguard"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider/internal/reach"
)

const (
	maxHeader    = 1 << 20
	maxErrorBody = 64 << 10
	maxAnswer    = 64 << 20

	// writeBuffer is a connection's buffer for requests, in bytes. Each connection keeps one as long
	// as its answer takes; a head fits, and a body is sent in large pieces anyway.
	writeBuffer = 1 << 10

	// DefaultConnectTimeout is how long a request waits for a connection (spec §3).
	DefaultConnectTimeout = 10 * time.Second

	// maxConnecting is how long a connection may go on dialling, and again doing its TLS handshake,
	// after its request has stopped waiting: it may serve the next one.
	maxConnecting = 5 * time.Minute
)

// Config is what a Client needs to know about a provider.
type Config struct {
	Provider       string        // the entry's name, for example "anthropic"
	BaseURL        string        // https, or http to this machine
	AllowPrivate   bool          // connections to private addresses are allowed, even over http
	ConnectTimeout time.Duration // for a request without its own; 0 = DefaultConnectTimeout
	Proxy          string        // the address of a proxy, see ParseProxy; "" = none, whatever the environment says
	ProxySetting   string        // where it was set, for people

	Classify failure.Classifier // classifies errors; nil = failure.Classify

	// DialContext and RoundTripper replace the dial, or the whole transport, in tests and for
	// embedders who have their own. A RoundTripper limits the time for connecting itself.
	DialContext  func(ctx context.Context, network, address string) (net.Conn, error)
	RoundTripper http.RoundTripper
}

// Client asks one provider. It is safe for concurrent use and keeps connections alive.
type Client struct {
	provider string
	base     string
	host     reach.Host
	loopback bool
	way      *way
	connect  time.Duration // 0 = the transport limits it
	classify failure.Classifier
	http     http.Client
}

// New makes a Client. An error says what is wrong with the configuration.
func New(cfg Config) (*Client, error) {
	base, allowed, err := parseBase(cfg.BaseURL, cfg.AllowPrivate)
	if err != nil {
		return nil, err
	}
	through, err := wayOf(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{
		provider: cfg.Provider, base: base.String(), host: hostOf(base, through, allowed), loopback: allowed.Loopback, way: through, classify: cfg.Classify,
		http: http.Client{Transport: cfg.RoundTripper, CheckRedirect: stay},
	}
	if cfg.RoundTripper == nil {
		c.connect = cmp.Or(max(0, cfg.ConnectTimeout), DefaultConnectTimeout)
		c.http.Transport = transport(cfg, allowed, through, maxConnecting)
	}
	return c, nil
}

// Loopback reports whether the provider is on this machine.
func (c *Client) Loopback() bool { return c.loopback }

// Host is where the client connects to: the provider, or the proxy on the way to it.
func (c *Client) Host() reach.Host { return c.host }

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// NewBase gives a transport that sends the requests of another client library to a provider, with
// the same checks as a Client, and the base URL below which they must stay. The error says what is
// wrong with the configuration.
func NewBase(cfg Config) (http.RoundTripper, *url.URL, error) {
	base, allowed, err := parseBase(cfg.BaseURL, cfg.AllowPrivate)
	if err != nil {
		return nil, nil, err
	}
	if cfg.RoundTripper != nil {
		return cfg.RoundTripper, base, nil
	}
	through, err := wayOf(cfg)
	if err != nil {
		return nil, nil, err
	}
	return transport(cfg, allowed, through, cmp.Or(max(0, cfg.ConnectTimeout), DefaultConnectTimeout)), base, nil
}

// transport makes connections as cfg says. Each may take the time connecting for the dial, and
// again for its TLS handshake.
func transport(cfg Config, allowed netguard.Guard, through *way, connecting time.Duration) *http.Transport {
	t := &http.Transport{
		DialContext:            cfg.DialContext,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connecting,
		MaxResponseHeaderBytes: maxHeader,
		WriteBufferSize:        writeBuffer,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		OnProxyConnectResponse: proxyAnswered,
	}
	if through != nil {
		t.Proxy = http.ProxyURL(through.proxy)
		allowed = through.guard(allowed)
	}
	dialer := &net.Dialer{Timeout: connecting, KeepAlive: 30 * time.Second, Control: allowed.Control}
	if t.DialContext == nil {
		t.DialContext = dialer.DialContext
	}
	return t
}
