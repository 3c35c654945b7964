package pi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	routesVariable = "MULLIGAN_PI_OBSERVE" // tells observe.js what leads where

	maxRequest       = 64 << 20 // bytes of a request of Pi's
	maxRequestHeader = 64 << 10
	headerTime       = 5 * time.Second // for Pi to send a request's headers
)

// Decoders gives the decoder for the answer to a request with that path, or nil.
type Decoders func(path string) wire.Decoder

// proxy stands between the Pis of an engine and their providers, on this machine only, and sees how
// each request goes. It adds nothing to a request and keeps nothing of it. Each Pi has its own
// secret in its URLs; without it there is no way through:
//
//	http://127.0.0.1:PORT/SECRET/PROVIDER/HOST/PATH → https://HOST/PATH
//
// The host is in the URL because Pi decides by the host that it finds there.
type proxy struct {
	address  string
	server   *http.Server
	decoders Decoders
	beyond   Proxy // gives the proxies on the way to the providers; nil = none

	mu     sync.Mutex
	guests map[[sha256.Size]byte]*requestObserver // by the digests of their secrets
	ways   map[upstream]http.RoundTripper         // shared, to share connections
}

// route is a way through the proxy.
type route struct {
	provider string
	base     *url.URL
	mount    string // the path that stands for base, as in a URL
	through  http.RoundTripper
}

func newProxy(decoders Decoders, beyond Proxy) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	x := &proxy{
		address: listener.Addr().String(), decoders: decoders, beyond: beyond,
		guests: map[[sha256.Size]byte]*requestObserver{}, ways: map[upstream]http.RoundTripper{},
	}
	x.server = &http.Server{
		Handler: x, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxRequestHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = x.server.Serve(listener) }() // it ends with close
	return x, nil
}

func (x *proxy) close() { _ = x.server.Close() }

// admit gives a Pi its way through, to these upstreams. An upstream with an error is left out; the
// others are not affected.
func (x *proxy) admit(to map[string]upstream, secrets []string) (*requestObserver, error) {
	w := newRequestObserver(secrets)
	var problems []error
	for _, provider := range slices.Sorted(maps.Keys(to)) {
		through, base, err := x.way(to[provider])
		if err != nil {
			problems = append(problems, fmt.Errorf("pi's provider %q: %w", provider, err))
			continue
		}
		mount := "/" + w.secret + "/" + url.PathEscape(provider) + "/" + base.Host + base.EscapedPath()
		w.routes = append(w.routes, route{provider: provider, base: base, mount: mount, through: through})
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.guests[sha256.Sum256([]byte(w.secret))] = w
	w.leave = func() { x.dismiss(w) }
	return w, errors.Join(problems...)
}

// way gives the transport to an upstream. A person may name a private address.
func (x *proxy) way(to upstream) (http.RoundTripper, *url.URL, error) {
	cfg := observe.Config{BaseURL: to.base, AllowPrivate: to.own}
	if x.beyond != nil {
		var err error
		if cfg.Proxy, cfg.ProxySetting, err = x.beyond(to.base); err != nil {
			return nil, nil, err
		}
	}
	through, base, err := observe.NewBase(cfg)
	if err != nil {
		return nil, nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if known := x.ways[to]; known != nil {
		return known, base, nil
	}
	x.ways[to] = through
	return through, base, nil
}

// dismiss closes the way of a Pi that has ended.
func (x *proxy) dismiss(w *requestObserver) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.guests, sha256.Sum256([]byte(w.secret)))
}

// variable is the environment variable that tells a Pi its ways.
func (x *proxy) variable(w *requestObserver) (string, error) {
	type way struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	ways := map[string]way{}
	for _, r := range w.routes {
		ways[r.provider] = way{r.base.String(), "http://" + x.address + r.mount}
	}
	b, err := json.Marshal(ways)
	return routesVariable + "=" + string(b), err
}

// ServeHTTP passes a request on.
func (x *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Host != x.address:
		http.Error(w, "this address serves "+x.address+" only", http.StatusMisdirectedRequest)
		return
	case r.Method != http.MethodPost && r.Method != http.MethodGet:
		http.Error(w, "only GET and POST are passed on", http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Upgrade") != "":
		http.Error(w, "HTTP is passed on, and nothing that it is upgraded to", http.StatusNotImplemented)
		return
	}
	guest, via, rest := x.find(r.URL)
	if guest == nil {
		http.Error(w, "nothing leads from here to a provider of Pi's; only the base URLs of its models are passed on to", http.StatusNotFound)
		return
	}
	target, err := url.Parse(via.base.String() + rest)
	if err != nil {
		http.Error(w, "the path cannot be understood", http.StatusBadRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	passing := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			target.RawQuery = p.Out.URL.RawQuery
			p.Out.URL, p.Out.Host = target, ""
		},
		Transport:     observing{guest, via, x.decoder(target.Path)},
		FlushInterval: -1,
		ErrorLog:      x.server.ErrorLog,
		// Pi sees what it would see without us: a connection that breaks.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	passing.ServeHTTP(w, r)
}

// find gives the Pi that a URL belongs to, where the URL leads, and the rest of its path.
func (x *proxy) find(u *url.URL) (*requestObserver, route, string) {
	path := u.EscapedPath()
	secret, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	x.mu.Lock()
	guest := x.guests[sha256.Sum256([]byte(secret))]
	x.mu.Unlock()
	if guest == nil || slices.ContainsFunc(strings.Split(u.Path, "/"), isDots) {
		return nil, route{}, ""
	}
	for _, r := range guest.routes {
		if rest, ok := strings.CutPrefix(path, r.mount); ok && (rest == "" || rest[0] == '/') {
			return guest, r, rest
		}
	}
	return nil, route{}, ""
}

// isDots reports whether a segment of a path is "." or "..", which could lead out of the way.
func isDots(segment string) bool { return segment == "." || segment == ".." }

// decoder is the decoder for the answer to a request with that path; unknownWire if there is none.
func (x *proxy) decoder(path string) wire.Decoder {
	if x.decoders != nil {
		if d := x.decoders(path); d != nil {
			return d
		}
	}
	return unknownWire{}
}

// unknownWire takes any answer to be whole: only its head, and an error, are understood.
type unknownWire struct{}

func (unknownWire) Decode(_ []byte, deltas []llm.Delta) ([]llm.Delta, error) { return deltas, nil }
func (unknownWire) State() wire.State                                        { return wire.Finished }
func (unknownWire) Stop() llm.StopReason                                     { return llm.StopEnd }

var errNoAddress = errors.New("its address is not known, or it has several; models.json can name one as the provider's baseUrl")

var errRedirected = errors.New("a redirect is not passed on: key and prompt would follow it")

// observing is a requestObserver as an http.RoundTripper.
type observing struct {
	guest   *requestObserver
	via     route
	decoder wire.Decoder
}

func (o observing) RoundTrip(r *http.Request) (*http.Response, error) {
	v := o.guest.arrive(r, o.via, o.decoder)
	response, err := v.RoundTrip(o.via.through, r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest {
		_ = response.Body.Close() // its contents do not matter
		return nil, errRedirected
	}
	if response.StatusCode < http.StatusMultipleChoices { // with its length, an answer that was cut would look whole
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	response.Body = &seenBody{response.Body, v}
	return response, nil
}

// seenBody is the body of an answer. If it ends before the answer is whole, it breaks the
// connection: old versions of Pi would take it for an answer.
type seenBody struct {
	io.ReadCloser
	request *observedRequest
}

func (b *seenBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.request.look()
	if errors.Is(err, io.EOF) && b.request.cut() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// observed makes the way through the proxy for the Pi that is about to be started; nil if nothing
// has to be observed.
func (e *Engine) observed(program *procgroup.Program, provider string, secrets []string) (*requestObserver, error) {
	if !e.cfg.Observe {
		return nil, nil //nolint:nilnil // nothing is observed, and that is not an error
	}
	to, err := e.folder.upstreams()
	if err != nil {
		e.unseen(provider, err)
		return nil, nil //nolint:nilnil // likewise
	}
	x, err := e.theProxy()
	if err != nil {
		return nil, fmt.Errorf("listen on this machine for Pi's requests: %w; without observe in mulligan.yaml Pi asks by itself", err)
	}
	w, problem := x.admit(to, secrets)
	w.classify = e.cfg.Classify
	if !w.covers(provider) {
		e.unseen(provider, problem)
	}
	variable, err := x.variable(w)
	program.Env = append(append(program.Env, variable), directly(program.Env)...)
	program.Args = append(program.Args, "--extension", e.folder.extension(observeFile))
	return w, err
}

// theProxy is the engine's proxy, which starts with the first Pi.
func (e *Engine) theProxy() (*proxy, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	if e.proxy == nil {
		x, err := newProxy(e.cfg.Decoders, e.cfg.Proxy)
		if err != nil {
			return nil, err
		}
		e.proxy = x
	}
	return e.proxy, nil
}

// unseen warns once that a provider's requests do not go through the proxy.
func (e *Engine) unseen(provider string, why error) {
	e.mu.Lock()
	first := !e.warned[provider]
	e.warned[provider] = true
	e.mu.Unlock()
	if first {
		e.cfg.Logger.Warn("the requests to Pi's provider "+provider+" are not observed", "err", cmp.Or(why, errNoAddress))
	}
}
