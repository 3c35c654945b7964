package faultlab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
)

// Transport is a way to fail below HTTP.
type Transport struct {
	ID   string // the catalogue's row or variant
	Name string // to pass to Break
	Doc  string // what happens
}

// transport is a Transport and how to start it.
type transport struct {
	Transport
	start func(*Broken) error
}

// transports is in the order of the catalogue.
func transports() []transport {
	return []transport{
		{Transport{"T01", "dns-nxdomain", "the name server knows no such host"}, breakDNS(true)},
		{Transport{"T02", "dns-timeout", "the name server says nothing"}, breakDNS(false)},
		{Transport{"T03", "refused", "nobody listens at the port"}, breakRefused},
		{Transport{"T04", "blackhole", "nothing comes back to a connection attempt (Linux only)"}, breakBlackhole},
		{Transport{"T05", "unreachable", "there is no route; no server can play this, Broken.Dial gives the kernel's error"}, breakUnreachable},
		{Transport{"T06", "tls-silent", "connects, and then no TLS handshake happens"}, breakSilent("https")},
		{Transport{"T07", "tls-unknown-ca", "the certificate is signed by nobody known"}, breakTLS(certUnknown)},
		{Transport{"T08", "tls-wrong-host", "the certificate is for example.com"}, breakTLS(certWrongHost)},
		{Transport{"T09", "tls-expired", "the certificate expired yesterday"}, breakTLS(certExpired)},
		{Transport{"T10", "plain-http", "the URL says https, the server speaks http"}, breakPlainHTTP},
		{Transport{"T11", "proxy-407", "the proxy wants a login before it connects"}, breakProxy},
		{Transport{"T15", "no-headers", "takes the request and answers nothing"}, breakSilent("http")},
		{Transport{"T16", "reset", "takes the request and resets the connection"}, breakAfterRequest(resetConn)},
		{Transport{"T17", "eof", "takes the request and closes the connection"}, breakAfterRequest(sayNothing)},
		{Transport{"T18", "ssh", "an SSH server"}, breakAfterRequest(greetSSH)},
		{Transport{"T25", "h2-reset", "HTTP/2: the stream is reset before the header"}, breakH2(h2Reset)},
		{Transport{"T25-refused", "h2-refused", "HTTP/2: the server refuses every stream, unread"}, breakH2(h2Refused)},
		{Transport{"T26", "h2-reset-mid", "HTTP/2: the stream is reset in the middle of an answer"}, breakH2(h2ResetMid)},
		{Transport{"T28", "h2-goaway", "HTTP/2: the server says that it goes away, and goes"}, breakH2(h2GoAway)},
		{Transport{"T28-unread", "h2-goaway-unread", "HTTP/2: the server goes away, and says that it has read no request"}, breakH2(h2GoAwayUnread)},
	}
}

// Transports lists the ways to fail below HTTP, in the order of the catalogue.
func Transports() []Transport {
	var list []Transport
	for _, t := range transports() {
		list = append(list, t.Transport)
	}
	return list
}

// Broken is something on loopback that fails below HTTP until it is closed.
type Broken struct {
	URL  string // where to send requests, without a slash at its end
	Host string // the host in URL, without a port

	CA       []byte // PEM to trust; nil = nothing
	Resolver string // UDP address of the name server to ask about Host; "" = any
	Proxy    string // URL of the proxy to use; "" = none

	// Dial replaces the dial if no server can play the fault; nil = it does not.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	requests atomic.Int64
	closers  []func() error
}

// Requests is how many complete requests have come over HTTP/2.
func (b *Broken) Requests() int { return int(b.requests.Load()) }

// Break starts the transport of that name.
func Break(name string) (*Broken, error) {
	all := transports()
	i := slices.IndexFunc(all, func(t transport) bool { return t.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("faultlab: no transport %q", clip(name))
	}
	b := &Broken{}
	if err := all[i].start(b); err != nil {
		return nil, fmt.Errorf("faultlab: %s: %w", name, errors.Join(err, b.Close()))
	}
	at, err := url.Parse(b.URL)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.Host = at.Hostname()
	return b, nil
}

// Close ends everything, including open connections.
func (b *Broken) Close() error {
	var errs []error
	for _, closer := range slices.Backward(b.closers) {
		errs = append(errs, closer())
	}
	b.closers = nil
	return errors.Join(errs...)
}

// Client returns an HTTP client that trusts CA and uses Resolver, Proxy and Dial. It has
// no time limits. Close its idle connections when done.
func (b *Broken) Client() *http.Client {
	dialer := &net.Dialer{}
	if b.Resolver != "" {
		dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", b.Resolver)
		}}
	}
	t := &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true}
	if b.Dial != nil {
		t.DialContext = b.Dial
	}
	if b.CA != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(b.CA)
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	if b.Proxy != "" {
		t.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(b.Proxy) }
	}
	return &http.Client{Transport: t}
}

// serve gives every connection to a loopback port to handle, and sets the URL.
func (b *Broken) serve(scheme string, handle func(net.Conn)) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to wait for
	if err != nil {
		return err
	}
	h := &holder{ln: ln, handle: handle, conns: map[net.Conn]bool{}}
	h.active.Add(1)
	go h.accept()
	b.closers = append(b.closers, h.close)
	b.URL = scheme + "://" + ln.Addr().String()
	return nil
}
