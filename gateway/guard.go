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

// GuardConfig is what a Guard lets through.
type GuardConfig struct {
	// Token tells whether a token's digest is that of a token that holds now: TokenFile.Holds.
	// It is asked for every request, and must compare in constant time. An error says that it
	// cannot tell now, and nothing about the digest (503).
	Token func(Digest) (bool, error)
	// Logins keeps browsers' one-time codes and sessions; nil = no browser can log in.
	Logins *Logins
	// Hosts are more values of Host that the gateway is reached by, with the port where it
	// is not the scheme's own: "mulligan.example", "box:8484".
	Hosts []string
	// Origins are more pages that may make requests, as "https://mulligan.example": those of
	// a proxy that a browser sees instead of this gateway. They get no CORS headers.
	Origins []string
	// TLS says that browsers reach the gateway by https.
	TLS    bool
	Limits Limits
	Now    func() time.Time // nil = the system's clock
	Logger *slog.Logger     // nil = nowhere
}

// Guard stands before the API and the page: what it does not let through, they never see.
// It is safe for concurrent use.
//
// A request is held against these, in this order, and the first that refuses answers:
//
//	size of the head and the path         431, 414    limits.go
//	method and form                       405, 421
//	Host, whatever the gateway is bound to 421        host.go
//	Origin and Fetch metadata             403         origin.go
//	who asks: token or session            401, 429, 503 caller.go
//	the CSRF header of a session's writes 403         origin.go
//	how much goes on already: its turn    429         limits.go
//	body: JSON of decent size and shape   408, 413, 415, 400   body.go
//
// The page, /healthz, /readyz and POST /v1/login need nobody to be known; what goes to the
// API (see isAPI) always does. Everything else goes to the page, which must be static.
//
// Headers that a proxy sets (Forwarded, X-Forwarded-…) are not read.
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

// NewGuard makes a Guard before an API and a page; a nil page is none.
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

// ServeHTTP answers a request, or lets it through.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.protect(w.Header(), r)
	g.hurry(w, r)
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

// check is what every request has to pass, whoever makes it.
func (g *Guard) check(r *http.Request) error {
	for _, check := range []func(*http.Request) error{g.checkHead, checkForm, g.checkHost, g.checkOrigin} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// isAPI reports whether a path belongs to the API. Nothing else reaches it: a path that is
// not listed is the page's, so an addition that is forgotten here is not served at all.
func isAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/mulligan.v1.") || strings.HasPrefix(path, "/openapi") || path == "/metrics" || strings.HasPrefix(path, "/debug/")
}

// serveAPI serves whoever is known.
func (g *Guard) serveAPI(w http.ResponseWriter, r *http.Request) {
	caller, err := g.caller(r)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	if err := checkCSRF(r, caller); err != nil {
		g.refuse(w, r, err)
		return
	}
	done, begun, err := g.begin(r)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	defer done()
	rpc := advice.IsRPC(r) // which reads its body itself, and bounds it
	if !rpc {
		if err := g.readBody(w, r); err != nil {
			g.refuse(w, r, err)
			return
		}
	}
	switch r.URL.Path {
	case loginPath:
		g.refuse(w, r, refusal{code: http.StatusMethodNotAllowed, why: "log in with POST"})
		return
	case logoutPath:
		g.logout(w, r)
		return
	}
	ctx := withCaller(r.Context(), caller)
	if rpc {
		g.api.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	if isStream(r) {
		var end func()
		ctx, end = g.watched.whileKnown(context.WithValue(ctx, begunKey{}, begun), caller, g.holds)
		defer end()
	} else {
		answer := newPaced(w)
		defer answer.done()
		w = answer
	}
	g.api.ServeHTTP(w, r.WithContext(ctx))
}

// begunKey is where the context of a request that is answered by a stream has what to call once all is
// done but that.
type begunKey struct{}

// health asks the API how it is and passes on nothing but the answer's code, and why it is not
// ready.
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

// why is what the problem document says, "" if there is none.
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
