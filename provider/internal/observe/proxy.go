package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mulligan-run/mulligan/internal/netguard"

	"github.com/mulligan-run/mulligan/failure"
)

// proxySchemes are the schemes of proxies that net/http supports.
var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// ParseProxy reads the address of a proxy, as a URL or as host:port. The error does not repeat
// it, since it may contain a password.
func ParseProxy(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains(proxySchemes, u.Scheme) || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is not the address of a proxy: write http://HOST:PORT (or https, socks5), with USER:PASSWORD@ before the host if it requires a login")
	}
	return u, nil
}

// way is the proxy on the way to a provider; nil = none.
type way struct {
	proxy   *url.URL
	setting string // where it was set, for people
}

func wayOf(cfg Config) (*way, error) {
	if cfg.Proxy == "" || cfg.RoundTripper != nil {
		return nil, nil //nolint:nilnil // no proxy is not an error
	}
	proxy, err := ParseProxy(cfg.Proxy)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(cfg.ProxySetting, "proxy"), err)
	}
	return &way{proxy, cfg.ProxySetting}, nil
}

// guard says where connections may go on this way to a provider with that guard: to the proxy,
// which may be on this machine or in a private network, since a person has set it, but never to a
// cloud's metadata service. The proxy looks up the names of providers itself.
func (w *way) guard(provider netguard.Guard) netguard.Guard {
	return netguard.Guard{AllowPrivate: true, Plain: provider.Plain && w.proxy.Scheme != "https"}
}

// words name the proxy for people, without its password.
func (w *way) words() failure.Words {
	if w == nil {
		return failure.Words{}
	}
	return failure.Words{Proxy: w.proxy.Host, ProxySetting: w.setting}
}

// steps counts the TLS handshakes of one request's connection, which show whether it has got beyond
// the proxy: the first is with the proxy itself if that uses https.
type steps struct{ handshakes atomic.Int32 }

func (s *steps) beyond(w *way) bool {
	if w == nil {
		return true
	}
	if w.proxy.Scheme == "https" {
		return s.handshakes.Load() > 1
	}
	return s.handshakes.Load() > 0
}

// proxyError says that a proxy refused a connection.
type proxyError struct{ status int }

func (e *proxyError) Error() string { return "the proxy answered " + e.answer() }

func (e *proxyError) answer() string {
	return strings.TrimSpace(fmt.Sprint(e.status, " ", http.StatusText(e.status)))
}

// kind depends on the proxy's answer: a refusal is final, while a proxy that cannot connect may
// do so later.
func (e *proxyError) kind() (failure.Kind, string) {
	switch {
	case e.status == http.StatusProxyAuthRequired:
		return failure.KindMisconfigured, failure.VariantProxy
	case e.status == http.StatusRequestTimeout, e.status == http.StatusTooManyRequests, e.status >= 500 && e.status != http.StatusNotImplemented:
		return failure.KindUnreachable, failure.VariantProxyGateway
	}
	return failure.KindMisconfigured, failure.VariantProxyRefused
}

func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return &proxyError{answer.StatusCode}
	}
	return nil
}

// trouble says what err means for a request that got no further than its proxy. An empty kind means
// that it is not the proxy's fault. said is for people.
func (w *way) trouble(err error, beyond bool) (kind failure.Kind, variant, said string) {
	var (
		answered *proxyError
		refused  *netguard.RefusedAddressError
		op       *net.OpError
	)
	switch {
	case errors.As(err, &refused) && w == nil:
		return failure.KindMisconfigured, "", refused.Error()
	case errors.As(err, &refused):
		return failure.KindMisconfigured, "", "Its proxy cannot be used: " + refused.Error()
	case errors.As(err, &answered):
		kind, variant = answered.kind()
		return kind, variant, answered.answer()
	case errors.As(err, &op) && strings.HasPrefix(op.Op, "socks"):
		return socksTrouble(err)
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return unanswered(err, false), failure.VariantProxy, ""
	case w == nil || beyond || isTLS(err):
		return "", "", ""
	case says(err, "malformed HTTP"):
		return failure.KindMisconfigured, failure.VariantProxyRefused, "what is there does not speak HTTP"
	}
	return unanswered(err, false), failure.VariantProxy, ""
}

// socksTrouble reads the answer of a SOCKS proxy, which net/http gives only in words.
func socksTrouble(err error) (kind failure.Kind, variant, said string) {
	switch {
	case says(err, "authentication"):
		return failure.KindMisconfigured, failure.VariantProxy, ""
	case says(err, "not allowed by ruleset"):
		return failure.KindMisconfigured, failure.VariantProxyRefused, "not allowed by its rules"
	}
	text := err.Error()
	return failure.KindUnreachable, failure.VariantProxyGateway, text[strings.LastIndex(text, ": ")+1:]
}

// errLetThrough ends a connection that was made only as a test.
var errLetThrough = errors.New("the proxy lets it through")

// Proxy is the proxy on the way to the provider, as host:port, and where it was set; "" = none.
func (c *Client) Proxy() (address, setting string) {
	if c.way == nil {
		return "", ""
	}
	return c.way.proxy.Host, c.way.setting
}

// TryProxy makes the proxy connect to the provider, and ends the connection before anything is sent
// to the provider. For a proxy that needs no such connection, or does not report it, success only
// means that it listens. The error is a failure.
func (c *Client) TryProxy(ctx context.Context) error {
	usual, ok := c.http.Transport.(*http.Transport)
	if c.way == nil || !ok {
		return nil
	}
	j := observation{provider: c.provider, secrets: NewSecrets(c.way.secrets()...), way: c.way, connect: c.connect, phase: failure.PhaseBeforeConnect}
	ctx, cancel := context.WithTimeoutCause(ctx, c.connect, errConnect)
	defer cancel()
	err := c.way.try(ctx, usual, c.base)
	switch {
	case errors.Is(err, errLetThrough), err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return j.unanswered(err, false, false)
}

// try connects with the provider's own transport, as far as that tests the proxy.
func (w *way) try(ctx context.Context, usual *http.Transport, base string) error {
	if !strings.HasPrefix(base, "https:") || strings.HasPrefix(w.proxy.Scheme, "socks") {
		conn, err := usual.DialContext(ctx, "tcp", net.JoinHostPort(w.proxy.Hostname(), fmt.Sprint(port(w.proxy))))
		if err != nil {
			return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err}
		}
		return conn.Close()
	}
	once := usual.Clone()
	defer once.CloseIdleConnections()
	once.OnProxyConnectResponse = func(ctx context.Context, proxy *url.URL, request *http.Request, answer *http.Response) error {
		return cmp.Or(proxyAnswered(ctx, proxy, request, answer), errLetThrough)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, base, nil)
	if err != nil {
		return err
	}
	response, err := once.RoundTrip(request)
	if err == nil {
		response.Body.Close()
	}
	return err
}

// secrets are the proxy's credentials.
func (w *way) secrets() []string {
	if w == nil {
		return nil
	}
	return ProxySecrets(w.proxy)
}

// ProxySecrets are the parts of a proxy's address that must not be shown.
func ProxySecrets(proxy *url.URL) []string {
	password, _ := proxy.User.Password()
	if password == "" {
		return []string{proxy.User.Username()} // a token
	}
	return []string{password, proxy.User.Username() + ":" + password}
}
