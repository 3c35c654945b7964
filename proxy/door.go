package proxy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/webguard"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// maxBody is the largest request of a call, in bytes: the same as Anthropic's.
const maxBody = 32 << 20

// maxRoom is how many bytes are set aside for a body because it is announced.
const maxRoom = 256 << 10

// wrongTokens is how many wrong tokens an address may send per minute.
const wrongTokens = 10

// Config is what a Proxy needs.
type Config struct {
	Runs   Runs
	Routes []Route
	// Token reports whether a SHA-256 is that of the proxy's token, which callers send instead of
	// their key. It must compare in constant time.
	Token func(sum [sha256.Size]byte) (bool, error)
	// Forward sends a request that is not a model call to a provider's entry, with own or,
	// if that is nil, the entry's credential; never with the caller's. The error is a
	// *failure.Failure. provider.Set has such a method.
	Forward func(entry string, r *http.Request, own *llm.Credential) (*http.Response, error)
	// Wire is the type of a provider's entry, by the entry's name. Providers that speak the
	// caller's wire get the caller's own bytes.
	Wire func(entry string) string
	// AskFor is how long a call waits for a person if its route leaves decisions to persons; 0 =
	// the caller gets the failure at once. It must be at most 300 s, since callers wait no longer.
	AskFor  time.Duration
	AskMost int // calls that may wait at a time; further ones get the failure at once
	// Asks, unless nil, is told that a person is asked about a call. Answer says where people see
	// a call that nobody has answered.
	Asks   func(run string, s recovery.Suggestion)
	Answer func(run string) string
	// Traced, unless nil, wraps the handler for admitted requests, to make spans: their Pattern
	// contains only the API's own names.
	Traced func(h http.Handler) http.Handler
	Hosts  []string // further values of Host that the proxy accepts
	TLS    bool     // callers use https
	Logger *slog.Logger
}

// Proxy answers model calls. It is safe for concurrent use.
type Proxy struct {
	cfg   Config
	hosts map[string]bool
	tally Tally
	wrong *webguard.Failures
	known http.Handler // for callers with the token

	waiting atomic.Int64 // calls that wait for a person
}

// New makes a Proxy; an error says what is wrong with the configuration.
func New(cfg Config) (*Proxy, error) {
	if cfg.Token == nil {
		return nil, errors.New("a proxy needs a token, wherever it listens: set Config.Token")
	}
	if cfg.AskFor < 0 || cfg.AskFor > mostSilence {
		return nil, fmt.Errorf("callers do not wait for a person for %s, but for 0 to %s", cfg.AskFor, mostSilence)
	}
	if cfg.Forward == nil {
		cfg.Forward = notForwarded
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{hosts: map[string]bool{}, wrong: webguard.NewFailures(wrongTokens)}
	for i, route := range cfg.Routes {
		if route.Mode == "" {
			cfg.Routes = slices.Clone(cfg.Routes)
			cfg.Routes[i].Mode, route.Mode = ModeContinue, ModeContinue
		}
		if err := route.check(); err != nil {
			return nil, fmt.Errorf("route %d: %w", i+1, err)
		}
	}
	for _, host := range cfg.Hosts {
		p.hosts[strings.ToLower(host)] = true
	}
	p.cfg, p.known = cfg, http.HandlerFunc(p.serve)
	if cfg.Traced != nil {
		p.known = cfg.Traced(p.known)
	}
	return p, nil
}

// notForwarded is the Forward of a Config without one.
func notForwarded(string, *http.Request, *llm.Credential) (*http.Response, error) {
	f := failure.NewFailure(failure.KindPromptFailure, failure.OriginRunner, failure.PhasePrompt, errNoForward)
	f.Describe(failure.Words{})
	return nil, f
}

// Tally counts the calls so far.
func (p *Proxy) Tally() *Tally { return &p.tally }

// ServeHTTP answers callers with the token.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, _ := apiOf(r)
	say := d
	if d == nil {
		say = chat
	}
	if len(r.TransferEncoding) > 0 { // a Content-Length beside it does not count
		w.Header().Set("Connection", "close")
	}
	if status, why := p.admit(r); status != 0 {
		p.refuse(w, say, status, why)
		return
	}
	switch {
	case d == nil:
		p.refuse(w, chat, http.StatusNotFound, "This is a proxy for model calls: POST to /v1/messages, /v1/chat/completions, /v1/responses or /v1beta/models/MODEL:generateContent. "+
			"It is not clear whose API this path belongs to.")
	case isUpgrade(r.Header):
		p.refuse(w, d, http.StatusUpgradeRequired, "This proxy speaks no WebSocket: make the same call by HTTP.")
	default:
		p.known.ServeHTTP(w, r)
	}
}

// isUpgrade reports whether the request asks for a protocol other than HTTP. It is answered with
// status 426, on which Codex uses HTTP at once; with any other status it tries again.
func isUpgrade(h http.Header) bool { return h.Get("Upgrade") != "" }

// serve answers model calls, and forwards other requests.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	called, model, stream := door(r)
	r.Pattern = r.Method + " " + patternOf(r.URL.Path)
	if called == nil || r.Method != http.MethodPost {
		d, _ := apiOf(r)
		p.forward(w, r, d)
		return
	}
	a, status, err := read(w, r, called)
	if err != nil {
		p.refuse(w, called, status, err.Error())
		return
	}
	if model != "" {
		a.Model, a.Stream, a.array = model, stream, stream && r.URL.Query().Get("alt") != "sse"
	}
	p.answer(w, r, a)
}

// admit says why a request is refused, with a status; 0 if it is not.
func (p *Proxy) admit(r *http.Request) (status int, why string) {
	if r.URL.IsAbs() || r.URL.Host != "" {
		return http.StatusMisdirectedRequest, "Send the path alone: this is no proxy for addresses."
	}
	if why := pathProblem(r); why != "" {
		return http.StatusBadRequest, why
	}
	host := strings.ToLower(r.Host)
	if !p.hosts[host] && !slices.Contains(webguard.OwnHosts(r, p.cfg.TLS), host) {
		return http.StatusMisdirectedRequest, "This proxy is not reached by that name: use the address that it listens on."
	}
	if webguard.FromAnotherPage(r, p.cfg.TLS) {
		return http.StatusForbidden, "Requests of web pages are refused."
	}
	ok, err := p.cfg.Token(sha256.Sum256([]byte(tokenOf(r.Header))))
	switch {
	case err != nil:
		return http.StatusServiceUnavailable, "The proxy cannot read its own token now."
	case !ok:
		if _, tooMany, _ := p.wrong.Add(r.RemoteAddr, time.Now()); tooMany {
			return http.StatusTooManyRequests, "Too many wrong tokens came from this address. Wait a minute."
		}
		return http.StatusUnauthorized, "The key is not this proxy's token: `mulligan proxy --help` says where that is."
	}
	return 0, ""
}

// read reads a call.
func read(w http.ResponseWriter, r *http.Request, d *dialect) (a asked, status int, err error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return asked{}, http.StatusUnsupportedMediaType, errors.New("this proxy does not take compressed request bodies: send it without Content-Encoding")
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, maxBody), r.ContentLength)
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return asked{}, http.StatusRequestEntityTooLarge, fmt.Errorf("the request has more than %d MiB", maxBody>>20)
	}
	if err != nil {
		return asked{}, http.StatusBadRequest, errors.New("the request ended before its body was complete")
	}
	said, err := d.decode(body)
	if err != nil {
		return asked{}, http.StatusBadRequest, err
	}
	return asked{Asked: said, dialect: d, body: body}, 0, nil
}

// readAll reads a body with room for as much as is announced, so that a conversation of many KB is
// not copied again and again while it is read; -1 = nothing is announced.
func readAll(body io.Reader, announced int64) ([]byte, error) {
	room := min(max(announced, 0), maxRoom) + bytes.MinRead // which a Buffer wants to be free for the end, too
	b := bytes.NewBuffer(make([]byte, 0, room))
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

// answer finds the models to ask, and makes the call.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, a asked) {
	i := slices.IndexFunc(p.cfg.Routes, func(route Route) bool { return route.fits(a.Model) })
	if i < 0 {
		p.refuse(w, a.dialect, http.StatusNotFound, fmt.Sprintf("No route of this proxy is for the model %q.", a.Model))
		return
	}
	route := p.cfg.Routes[i]
	if a.Model == "" && route.asksForModel() {
		p.refuse(w, a.dialect, http.StatusBadRequest, "The request names no model.")
		return
	}
	if wanted := Mode(r.Header.Get("X-Mulligan-Stream")); wanted != "" {
		if route.Mode = wanted; route.check() != nil {
			p.refuse(w, a.dialect, http.StatusBadRequest, fmt.Sprintf("x-mulligan-stream: mode %q is none of continue, hold, error.", wanted))
			return
		}
	}
	route.Mode = a.mode(route.Mode)
	models := p.modelsOf(route, a.dialect, a.Model)
	if bound := a.Bound; len(bound) > 0 { // an answer on another wire would not be what was asked for
		models = slices.DeleteFunc(models, func(model string) bool { return !p.cfg.speaks(model, a.dialect) })
		if len(models) == 0 {
			p.refuse(w, a.dialect, http.StatusBadRequest, "No model of this route can be asked for "+strings.Join(bound, ", ")+".")
			return
		}
	}
	if len(models) == 0 {
		p.refuse(w, a.dialect, http.StatusForbidden, "This route keeps contents on this machine, and none of its models is one of a model server here (local: true says of a provider on this machine that it is one).")
		return
	}
	p.call(w, r, a, route, models)
}

// modelsOf are the models of a route that can take the caller's request.
func (p *Proxy) modelsOf(route Route, d *dialect, model string) []string {
	models := route.modelsFor(d, model)
	if route.LocalOnly {
		models = slices.DeleteFunc(models, func(model string) bool { return !p.cfg.Runs.Local(model) })
	}
	return models
}

// speaks reports whether a model is asked on the wire of d.
func (c *Config) speaks(model string, d *dialect) bool {
	entry, _, _ := strings.Cut(model, "/")
	return c.Wire != nil && c.Wire(entry) == d.entry
}

// refuse answers with an error of the proxy's own.
func (p *Proxy) refuse(w http.ResponseWriter, d *dialect, status int, why string) {
	w.Header().Set("X-Should-Retry", "false")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(d.refusal(d.report("", status, why))); err != nil {
		p.cfg.Logger.Debug("a caller has not read why it was refused", "err", err)
	}
}

var (
	errSealed    = errors.New("nobody waits for this attempt any more")
	errNoForward = errors.New("this proxy answers only model calls, and forwards no other requests")
	errSilent    = errors.New("the caller has waited long enough")
)

// silence is the failure of a call that was not answered for too long.
func silence(model string) *failure.Failure {
	f := failure.NewFailure(failure.KindTimeout, failure.OriginRunner, failure.PhaseBeforeFirstEvent, errSilent)
	f.Model, f.Timer, f.Limit = model, failure.TimerMaxTurn, failure.InMillis(mostSilence)
	f.Describe(failure.Words{})
	return f
}
