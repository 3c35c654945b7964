package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/internal/webguard"
)

// GuardConfig configures a Guard.
type GuardConfig struct {
	// Token reports whether a digest is that of a currently valid token; TokenFile.Holds
	// implements it. It is called for every request and must compare in constant time. An
	// error means that it could not be looked up, and says nothing about the digest (503).
	Token func(Digest) (bool, error)
	// Logins stores browsers' one-time codes and sessions; nil = no browser can log in.
	Logins *Logins
	// Hosts are additional values of the Host header to accept, with the port unless it is
	// the scheme's default: "mulligan.example", "box:8484".
	Hosts []string
	// Origins are additional origins that may make requests, such as
	// "https://mulligan.example": a proxy that browsers see instead of this gateway. They
	// get no CORS headers.
	Origins []string
	// TLS says that browsers reach the gateway by https.
	TLS    bool
	Limits Limits
	Now    func() time.Time // nil = the system's clock
	Logger *slog.Logger     // nil = no log
}

// Guard protects the API and the page: they never see what it refuses. It is safe for
// concurrent use.
//
// A request is checked in this order, and the first check that fails answers:
//
//	size of the head and the path         431, 414    limits.go
//	method and form                       405, 421
//	Host, whatever the gateway is bound to 421        host.go
//	Origin and Fetch metadata             403         origin.go
//	who asks: token or session            401, 429, 503 caller.go
//	the CSRF header of a session's writes 403         origin.go
//	requests in progress: its turn        429         limits.go
//	body: JSON of decent size and shape   408, 413, 415, 400   body.go
//
// The page, /healthz, /readyz and POST /v1/login need no authentication; the API (see
// isAPI) always does. Everything else goes to the page, which must be static.
//
// Headers that a proxy sets (Forwarded, X-Forwarded-…) are ignored.
type Guard struct {
	cfg       GuardConfig
	api, page http.Handler
	hosts     map[string]bool
	origins   map[string]bool
	cross     *http.CrossOriginProtection
	load      load
	watched   watch
	strangers *webguard.Failures // wrong tokens and sessions
	guesses   *webguard.Failures // wrong one-time codes
}

// NewGuard makes a Guard for an API and a page; a nil page is none.
func NewGuard(cfg GuardConfig, api, page http.Handler) (*Guard, error) {
	if cfg.Token == nil {
		return nil, errors.New("a gateway needs a token, wherever it listens: set GuardConfig.Token")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if page == nil {
		page = http.NotFoundHandler()
	}
	cfg.Limits = cfg.Limits.orDefault()
	g := &Guard{
		cfg: cfg, api: api, page: page, hosts: map[string]bool{}, origins: map[string]bool{}, cross: http.NewCrossOriginProtection(),
		load:      load{writes: make(chan struct{}, cfg.Limits.Writes), reads: make(chan struct{}, cfg.Limits.Reads)},
		strangers: webguard.NewFailures(cfg.Limits.Failures), guesses: webguard.NewFailures(cfg.Limits.Failures),
	}
	for _, host := range cfg.Hosts {
		if err := checkHost(host); err != nil {
			return nil, err
		}
		g.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range cfg.Origins {
		if err := g.cross.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
		g.origins[strings.ToLower(origin)] = true
	}
	return g, nil
}

// ServeHTTP answers a request, or passes it on.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.protect(w.Header(), r)
	g.limitBodyTime(w, r)
	if err := g.check(r); err != nil {
		g.refuse(w, r, err)
		return
	}
	switch path := r.URL.Path; {
	case path == "/healthz" || path == "/readyz":
		g.health(w, r)
	case path == loginPath && r.Method == http.MethodPost:
		g.login(w, r)
	case isAPI(path):
		g.serveAPI(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		g.refuse(w, r, refusal{code: http.StatusMethodNotAllowed, why: "the page can only be read"})
	default:
		g.page.ServeHTTP(w, r)
	}
}

// check runs the checks that do not depend on who makes the request.
func (g *Guard) check(r *http.Request) error {
	for _, check := range []func(*http.Request) error{g.checkHead, checkForm, g.checkHost, g.checkOrigin} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// isAPI reports whether a path belongs to the API. Only these paths reach it: any other
// goes to the page, so a new path that is missing here is not served at all.
func isAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/mulligan.v1.") || strings.HasPrefix(path, "/openapi") || path == "/metrics" || strings.HasPrefix(path, "/debug/")
}

// serveAPI serves requests of known callers.
func (g *Guard) serveAPI(w http.ResponseWriter, r *http.Request) {
	w, r, done := g.admit(w, r)
	if done == nil {
		return
	}
	defer done()
	g.api.ServeHTTP(w, r)
}

// admit checks a request to the API. The result is how the API is to answer it, and done ends that;
// done is nil if the request was answered here. What the checks need of the stack is free again
// while the API answers, which takes as long as a stream is open.
func (g *Guard) admit(w http.ResponseWriter, r *http.Request) (_ http.ResponseWriter, _ *http.Request, done func()) {
	caller, err := g.caller(r)
	if err == nil {
		err = checkCSRF(r, caller)
	}
	if err != nil {
		g.refuse(w, r, err)
		return nil, nil, nil
	}
	leave, begun, err := g.begin(r)
	if err != nil {
		g.refuse(w, r, err)
		return nil, nil, nil
	}
	defer func() {
		if done == nil {
			leave()
		}
	}()
	if advice.IsRPC(r) { // gRPC reads and bounds its body itself
		return w, r.WithContext(withCaller(r.Context(), caller)), leave
	}
	if err := g.readBody(w, r); err != nil {
		g.refuse(w, r, err)
		return nil, nil, nil
	}
	switch r.URL.Path {
	case loginPath:
		g.refuse(w, r, refusal{code: http.StatusMethodNotAllowed, why: "log in with POST"})
		return nil, nil, nil
	case logoutPath:
		g.logout(w, r)
		return nil, nil, nil
	}
	ctx := withCaller(r.Context(), caller)
	if isStream(r) {
		ctx, end := g.watched.whileKnown(context.WithValue(ctx, begunKey{}, begun), caller, g.holds)
		return w, r.WithContext(ctx), func() { end(); leave() }
	}
	answer := newDeadlineWriter(w)
	return answer, r.WithContext(ctx), func() { answer.done(); leave() }
}

// begunKey is the context key for a function to call when everything but the streamed answer is done.
type begunKey struct{}

// health asks the API whether it is healthy and passes on only the status code, and why it is
// not ready.
func (g *Guard) health(w http.ResponseWriter, r *http.Request) {
	if isWrite(r.Method) {
		g.refuse(w, r, refusal{code: http.StatusMethodNotAllowed, why: "this can only be read"})
		return
	}
	said := &problemOnly{codeOnly: codeOnly{header: http.Header{}, code: http.StatusOK}}
	g.api.ServeHTTP(said, r)
	health := map[string]string{"status": "ok"}
	if said.code != http.StatusOK {
		health["status"] = "not ready"
	}
	if why := said.why(); why != "" {
		health["why"] = why
	}
	writeJSON(w, said.code, "application/json", health)
}

// problemOnly is a ResponseWriter that keeps the status code and a problem document.
type problemOnly struct {
	codeOnly
	document []byte
}

func (p *problemOnly) Write(data []byte) (int, error) {
	if len(p.document)+len(data) <= maxProblem {
		p.document = append(p.document, data...)
	}
	return len(data), nil
}

// why is the problem document's detail, "" if there is none.
func (p *problemOnly) why() string {
	var problem struct{ Detail string }
	if p.code == http.StatusOK || p.header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(p.document, &problem) != nil {
		return ""
	}
	return problem.Detail
}

// codeOnly is a ResponseWriter that keeps the status code.
type codeOnly struct {
	header http.Header
	code   int
}

func (c *codeOnly) Header() http.Header            { return c.header }
func (c *codeOnly) WriteHeader(code int)           { c.code = code }
func (c *codeOnly) Write(data []byte) (int, error) { return len(data), nil }
