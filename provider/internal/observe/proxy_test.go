package observe

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// aProxy is a real one on this machine: it makes connections (CONNECT), passes plain requests
// on, and notes what it is asked. Whatever the name, it leads to one server.
type aProxy struct {
	*httptest.Server
	to    string              // host:port of the server
	reply http.HandlerFunc    // instead, where it is not nil
	mu    sync.Mutex          // of what follows
	asked []string            // method and target
	auth  map[string]struct{} // Proxy-Authorization
}

func startProxy(t *testing.T, to string, reply http.HandlerFunc) *aProxy {
	p := &aProxy{to: to, reply: reply, auth: map[string]struct{}{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *aProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.RequestURI)
	p.auth[r.Header.Get("Proxy-Authorization")] = struct{}{}
	p.mu.Unlock()
	switch {
	case p.reply != nil:
		p.reply(w, r)
	case r.Method == http.MethodConnect:
		p.connect(w)
	default:
		p.pass(w, r)
	}
}

func (p *aProxy) connect(w http.ResponseWriter) {
	beyond, err := net.Dial("tcp", p.to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer beyond.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(beyond, here); beyond.Close() }()
	_, _ = io.Copy(here, beyond)
}

func (p *aProxy) pass(w http.ResponseWriter, r *http.Request) {
	r.URL.Host, r.RequestURI = p.to, ""
	r.Header.Del("Proxy-Authorization")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

func (p *aProxy) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

const proxyLogin = "alice:hidden-w0rd"

// through is the proxy's address, with its log-in.
func (p *aProxy) through() string { return strings.Replace(p.URL, "//", "//"+proxyLogin+"@", 1) }

func (p *aProxy) host() string { return strings.TrimPrefix(p.URL, "http://") }

// sayHi is a provider; it counts its requests.
func sayHi(t *testing.T, requests *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if got := r.Header.Get("Proxy-Authorization"); got != "" {
			t.Errorf("the provider got the proxy's password: %s", got)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: Hi\n\ndata: .\n\n")
	})
}

// clientOf is a client that takes the server's certificate.
func clientOf(t *testing.T, cfg Config, server *httptest.Server) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ours, ok := c.http.Transport.(*http.Transport)
	if ok && server != nil && server.TLS != nil {
		ours.TLSClientConfig.RootCAs = x509.NewCertPool()
		ours.TLSClientConfig.RootCAs.AddCert(server.Certificate())
	}
	t.Cleanup(ours.CloseIdleConnections)
	return c
}

// TestThroughAProxy: the proxy gets the provider's name and looks it up itself, the password
// is for the proxy alone, and one attempt is one request.
func TestThroughAProxy(t *testing.T) {
	resolve(t, func() [4]byte { t.Error("a name was looked up here"); return [4]byte{} })
	for name, tt := range map[string]struct {
		base string
		cfg  Config
		want string
	}{
		"TLS":   {"https://example.com", Config{}, "CONNECT example.com:443"},
		"plain": {"http://models.corp.example:8000", Config{AllowPrivate: true}, "POST http://models.corp.example:8000/say"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewUnstartedServer(sayHi(t, &requests))
			if server.EnableHTTP2 = true; name == "TLS" {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			proxy := startProxy(t, server.Listener.Addr().String(), nil)
			tt.cfg.Provider, tt.cfg.BaseURL, tt.cfg.Proxy = "p", tt.base, proxy.through()
			c := clientOf(t, tt.cfg, server)
			if err := c.TryProxy(t.Context()); err != nil {
				t.Error(err)
			}
			if n := requests.Load(); n != 0 {
				t.Errorf("trying the proxy asked the provider %d times", n)
			}
			tried := len(proxy.questions())
			for range 2 {
				if text, err := talkTo(t, c); text != "Hi" || err != nil {
					t.Fatalf("%q, %v", text, err)
				}
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("two attempts are %d requests", n)
			}
			asked := proxy.questions()[tried:]
			if asked[0] != tt.want || name == "TLS" && len(asked) != 1 {
				t.Errorf("the proxy was asked %q", asked)
			}
			if _, ok := proxy.auth["Basic "+base64.StdEncoding.EncodeToString([]byte(proxyLogin))]; !ok || len(proxy.auth) != 1 {
				t.Errorf("it was logged in to with %v", proxy.auth)
			}
		})
	}
}

// TestAProxyFails: what goes wrong at the proxy is told of the proxy, by its address, without
// its password; the provider is not asked, and nothing is asked twice.
func TestAProxyFails(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Proxy-Authenticate", `Basic realm="corp"`)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "log in, "+proxyLogin)
		}
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}
	const https = "https://example.com"
	for name, tt := range map[string]struct {
		base  string
		reply http.HandlerFunc
		kind  failure.Kind
		retry bool
		title string // after "the proxy HOST:PORT"
		says  string
	}{
		"407":         {https, status(407), failure.KindMisconfigured, false, "The proxy HOST requires a login", "password in HTTPS_PROXY"},
		"407, plain":  {"http://models.corp.example", status(407), failure.KindMisconfigured, false, "The proxy HOST requires a login", "password in HTTPS_PROXY"},
		"403":         {https, status(403), failure.KindMisconfigured, false, "The proxy HOST does not let requests through to p", "403 Forbidden"},
		"no proxy":    {https, status(405), failure.KindMisconfigured, false, "The proxy HOST does not let requests through to p", "405 Method Not Allowed"},
		"502":         {https, status(502), failure.KindUnreachable, true, "The proxy HOST could not reach p", "502 Bad Gateway"},
		"503":         {https, status(503), failure.KindUnreachable, true, "The proxy HOST could not reach p", "503 Service Unavailable"},
		"504":         {https, status(504), failure.KindUnreachable, true, "The proxy HOST could not reach p", "504 Gateway Timeout"},
		"hangs up":    {https, says(""), failure.KindUnreachable, true, "Could not reach the proxy HOST", "Check its address in HTTPS_PROXY"},
		"not HTTP":    {https, says("SSH-2.0-OpenSSH_9.6\r\n"), failure.KindMisconfigured, false, "The proxy HOST does not let requests through to p", "does not speak HTTP"},
		"is silent":   {https, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, failure.KindTimeout, true, "The proxy HOST is not answering", "through it within 1 s"},
		"not running": {https, nil, failure.KindUnreachable, true, "Could not reach the proxy HOST", "Requests to p go through it: is it running?"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := startProxy(t, "127.0.0.1:1", tt.reply)
			if tt.reply == nil {
				proxy.Close()
			}
			cfg := Config{Provider: "p", BaseURL: tt.base, AllowPrivate: true, Proxy: proxy.through(), ProxySetting: "HTTPS_PROXY", ConnectTimeout: time.Second}
			if name != "is silent" {
				cfg.ConnectTimeout = time.Minute
			}
			c := clientOf(t, cfg, nil)
			_, err := talkTo(t, c)
			wantProxyFailure(t, err, proxy, tt.kind, tt.retry, tt.title, tt.says)
			if name == "is silent" {
				if f, _ := failure.AsFailure(err); f.Timer != failure.TimerConnect {
					t.Errorf("timer %q", f.Timer)
				}
			}
			if asked := proxy.questions(); tt.reply != nil && len(asked) != 1 {
				t.Errorf("asked %q", asked)
			}
			if tt.base == https {
				wantProxyFailure(t, c.TryProxy(t.Context()), proxy, tt.kind, tt.retry, tt.title, tt.says)
			}
		})
	}
}

func wantProxyFailure(t *testing.T, err error, proxy *aProxy, kind failure.Kind, retry bool, title, says string) {
	t.Helper()
	f, ok := failure.AsFailure(err)
	if !ok {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(title, "HOST", proxy.host()); f.Kind != kind || f.Retryable != retry || f.Title != want || !strings.Contains(f.Message, says) {
		t.Errorf("%s, retryable %v: %s\nwant %s: %s … %s", f.Kind, f.Retryable, f.Line(), kind, want, says)
	}
	if strings.Contains(f.Message, "Check the base URL") {
		t.Errorf("it sends people elsewhere: %s", f.Message)
	}
	stored, _ := json.Marshal(f)
	for _, secret := range []string{"hidden-w0rd", "alice", base64.StdEncoding.EncodeToString([]byte(proxyLogin))} {
		if strings.Contains(string(stored), secret) {
			t.Errorf("it holds %q: %s", secret, stored)
		}
	}
}

// TestBeyondTheProxy: what goes wrong behind a proxy that does its work is the provider's.
func TestBeyondTheProxy(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cfg := Config{Provider: "p", BaseURL: "https://example.com", ConnectTimeout: time.Second}
	cfg.Proxy = startProxy(t, silent.Addr().String(), nil).URL
	_, err = talkTo(t, clientOf(t, cfg, nil))
	if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindTimeout || f.Timer != failure.TimerConnect || f.Title != "p is not answering" {
		t.Errorf("a silent TLS handshake: %+v", err)
	}
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	cfg.Proxy, cfg.ConnectTimeout = startProxy(t, server.Listener.Addr().String(), nil).URL, time.Minute
	_, err = talkTo(t, clientOf(t, cfg, nil))
	if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindTLS || strings.Contains(f.Title, "the proxy") {
		t.Errorf("a certificate that nobody knows: %+v", err)
	}
}

// TestS18WhereAProxyMayBe: in a private network and on this machine, and never where clouds hand
// out credentials; what the provider itself may not be stays as it is.
func TestS18WhereAProxyMayBe(t *testing.T) {
	resolve(t, func() [4]byte { return [4]byte{169, 254, 169, 254} })
	c := clientOf(t, Config{Provider: "p", BaseURL: "https://example.com", Proxy: "http://rebinding.example:80"}, nil)
	_, err := talkTo(t, c)
	if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindMisconfigured || !strings.Contains(f.Message, "it is a cloud's metadata service") {
		t.Errorf("%+v", err)
	}
	for _, base := range []string{"https://10.0.0.1", "https://169.254.169.254"} {
		if _, err := New(Config{BaseURL: base, Proxy: "http://127.0.0.1:3128"}); err == nil {
			t.Errorf("%s is taken where there is a proxy", base)
		}
	}
	plain := clientOf(t, Config{Provider: "p", BaseURL: "http://models.corp.example", AllowPrivate: true, Proxy: "http://203.0.113.1:3128"}, nil)
	_, err = talkTo(t, plain)
	if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindMisconfigured || !strings.Contains(f.Message, "http, without TLS, is for this machine only") {
		t.Errorf("a key went out to the Internet without TLS: %+v", err)
	}
}

// TestASOCKSProxy: it says with a number what is wrong.
func TestASOCKSProxy(t *testing.T) {
	for reply, want := range map[string]struct {
		kind  failure.Kind
		title string
	}{
		"\x05\xff": {failure.KindMisconfigured, "requires a login"},
		"\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00": {failure.KindMisconfigured, "does not let requests through to p"},
		"\x05\x00\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00": {failure.KindUnreachable, "could not reach p"},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, reply)
			_, _ = io.Copy(io.Discard, conn)
		}()
		c := clientOf(t, Config{Provider: "p", BaseURL: "https://example.com", Proxy: "socks5://" + listener.Addr().String()}, nil)
		_, err = talkTo(t, c)
		if f, _ := failure.AsFailure(err); f == nil || f.Kind != want.kind || f.Title != "The proxy "+listener.Addr().String()+" "+want.title {
			t.Errorf("%q: %+v", reply, err)
		}
		listener.Close()
	}
}

func TestParseProxy(t *testing.T) {
	for _, good := range []string{"proxy.example:3128", "http://proxy.example", "https://u:p@proxy.example:443/", "socks5://[::1]:1080", " 10.0.0.1:80 "} {
		if u, err := ParseProxy(good); err != nil || u.Hostname() == "" {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"http://", "ftp://secret@proxy", "http://secret@proxy/path", "http://se cret@proxy", "://secret", "http://secret@proxy:port", "http://proxy?secret"} {
		if _, err := ParseProxy(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestAWatchedProxy: of somebody else's client it is known that it was the proxy.
func TestAWatchedProxy(t *testing.T) {
	base, _, err := NewBase(Config{BaseURL: "https://example.com", Proxy: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://example.com", http.NoBody)
	w := Watch(r, "p", &wordDecoder{}, nil)
	response, err := w.RoundTrip(base, r)
	if err == nil {
		response.Body.Close()
	}
	if f, _ := failure.AsFailure(w.Err(err)); f == nil || f.Kind != failure.KindUnreachable || f.Title != "Could not reach the proxy" {
		t.Errorf("%+v", f)
	}
}
