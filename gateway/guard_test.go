package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/timeline"
)

// guarded is a gateway behind its guard, on a real socket.
type guarded struct {
	*httptest.Server
	t      *testing.T
	dir    string
	token  string
	file   *gateway.TokenFile
	logins *gateway.Logins
	runs   *written
	clock  *clock
	log    *logged
}

// clock is the guard's; a test moves it.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// logged is a log that can be read while it is written.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const pageText = "the page"

// guard serves a guarded gateway; change may alter what it lets through.
func guard(t *testing.T, change func(*gateway.GuardConfig)) *guarded {
	t.Helper()
	return guardOf(t, change, nil)
}

// guardOf is guard; more may also change the gateway's Config.
func guardOf(t *testing.T, change func(*gateway.GuardConfig), more func(*gateway.Config)) *guarded {
	t.Helper()
	g := &guarded{t: t, dir: t.TempDir(), runs: newWritten(), clock: &clock{}, log: &logged{}}
	var err error
	if g.file, err = gateway.OpenToken(g.dir); err != nil {
		t.Fatal(err)
	}
	if g.token, err = gateway.ReadToken(g.dir); err != nil {
		t.Fatal(err)
	}
	if g.logins, err = gateway.OpenLogins(g.dir, g.clock.now); err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := gateway.GuardConfig{Token: g.file.Holds, Logins: g.logins, Now: g.clock.now, Logger: logger}
	if change != nil {
		change(&cfg)
	}
	served := gateway.Config{Runs: g.runs, Log: g.runs.log, Version: "secret-version", Logger: logger}
	if more != nil {
		more(&served)
	}
	api := gateway.New(served)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, pageText) })
	handler, err := gateway.NewGuard(cfg, api, page)
	if err != nil {
		t.Fatal(err)
	}
	g.Server = httptest.NewUnstartedServer(nil)
	g.Config = gateway.Server(handler, logger)
	g.Start()
	t.Cleanup(g.Close)
	return g
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	body   string
}

// send makes a request; header is "Name: value" lines, of which Host is special.
func setHeader(r *http.Request, line string) {
	name, value, _ := strings.Cut(line, ": ")
	r.Header.Add(name, value)
}

func (g *guarded) send(method, path, body string, header ...string) answer {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.URL+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "Host":
			req.Host = value
		case "Content-Type":
			req.Header.Set(name, value)
		default:
			req.Header.Add(name, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	var data []byte
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		if data, err = io.ReadAll(resp.Body); err != nil {
			g.t.Fatal(err)
		}
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

// bearer is the header that shows the token.
func (g *guarded) bearer() string { return "Authorization: Bearer " + g.token }

// logIn gives the header that shows a new session.
func (g *guarded) logIn() string {
	g.t.Helper()
	got := g.send("POST", "/v1/login", `{"code":"`+g.code()+`"}`)
	if got.code != http.StatusNoContent {
		g.t.Fatalf("the login: %d %s", got.code, got.body)
	}
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	return "Cookie: " + cookie
}

func (g *guarded) code() string {
	g.t.Helper()
	digest, err := g.file.Digest()
	if err != nil {
		g.t.Fatal(err)
	}
	code, err := g.logins.NewCode(digest)
	if err != nil {
		g.t.Fatal(err)
	}
	return code
}

// until waits for the second that a new token may take, and for a busy machine.
func (g *guarded) until(what string, ok func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			g.t.Fatalf("still not: %s", what)
		}
	}
}

// port is what the gateway listens on.
func (g *guarded) port() string {
	at := strings.LastIndex(g.URL, ":")
	return g.URL[at+1:]
}

const csrf = "X-Mulligan-CSRF: 1"

func TestAGuardNeedsAToken(t *testing.T) {
	if _, err := gateway.NewGuard(gateway.GuardConfig{}, http.NotFoundHandler(), nil); err == nil {
		t.Error("a guard without a token was made")
	}
}

// TestS31NothingIsToldToStrangers: without the token one gets the page, the login and whether the
// gateway is up, and not even its version.
func TestS31NothingIsToldToStrangers(t *testing.T) {
	g := guard(t, nil)
	for _, path := range []string{
		"/v1/runs", "/v1/runs/r1", "/v1/runs/r1/events", "/v1/suggestions", "/v1/sessions", "/v1/models", "/v1/plugins", "/v1/providers", "/v1/members", "/v1/logout", "/v1/x",
		"/openapi.json", "/openapi.yaml", "/openapi-3.0.json", "/metrics", "/debug/pprof/", "/debug/vars", "/%76%31/runs",
	} {
		if got := g.send("GET", path, ""); got.code != http.StatusUnauthorized || strings.Contains(got.body, "version") {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	for _, path := range []string{"//v1/runs", "/x/../v1/runs", "/V1/runs", "/metrics/", "/index.html"} {
		if got := g.send("GET", path, ""); got.body != pageText {
			t.Errorf("%s went elsewhere than to the page: %d %s", path, got.code, got.body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := g.send("GET", path, ""); got.code != http.StatusOK || got.body != "{\"status\":\"ok\"}\n" {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	if got := g.send("GET", "/openapi.json", "", g.bearer()); got.code != http.StatusOK || !strings.Contains(got.body, "secret-version") {
		t.Errorf("with the token: %d", got.code)
	}
	if got := g.send("GET", "/metrics", "", g.bearer()); got.code != http.StatusNotFound {
		t.Errorf("/metrics with the token, of an API without: %d", got.code)
	}
}

func TestAStoreThatDoesNotAnswerIsNotReady(t *testing.T) {
	down := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the disk of "+pageText, http.StatusServiceUnavailable)
	})
	h, err := gateway.NewGuard(gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return false, nil }}, down, nil)
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)
	req.Host = "localhost"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 503 || w.Body.String() != "{\"status\":\"not ready\"}\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// checkedLog is a store that says whether it would take a run.
type checkedLog struct {
	timeline.Log
	why error
}

func (l checkedLog) Check(context.Context) error { return l.why }

// TestReadySaysWhatAStartWould: where no run could begin it says so, and why, but not where.
func TestReadySaysWhatAStartWould(t *testing.T) {
	w := newWritten()
	full := &timeline.StoreError{File: "/secret/place", Kind: timeline.ErrFull, Reason: "no space left on device", Advice: "free some"}
	for _, c := range []struct {
		why  error
		code int
		said string
	}{
		{nil, 200, `{"status":"ok"}`}, {full, 503, `{"status":"not ready","why":"the store: no space left on device: free some"}`},
	} {
		api := gateway.New(gateway.Config{Runs: troubled{w, c.why}, Log: checkedLog{w.log, c.why}, CheckModel: checkModel})
		h, err := gateway.NewGuard(gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return true, nil }}, api, nil)
		if err != nil {
			t.Fatal(err)
		}
		said := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)
		r.Host = "localhost"
		h.ServeHTTP(said, r)
		if said.Code != c.code || said.Body.String() != c.said+"\n" {
			t.Errorf("ready: %d %s", said.Code, said.Body)
		}
		if c.why == nil {
			continue
		}
		start := httptest.NewRecorder()
		r = httptest.NewRequestWithContext(t.Context(), "POST", "/v1/runs", strings.NewReader(`{"prompt":"hi"}`))
		r.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(start, r)
		if start.Code != c.code || !strings.Contains(start.Body.String(), full.Reason) || strings.Contains(start.Body.String(), full.File) {
			t.Errorf("a start says: %d %s", start.Code, start.Body)
		}
	}
}

func TestARunThroughTheGuard(t *testing.T) {
	g := guard(t, nil)
	if got := g.send("POST", "/v1/runs", `{"prompt":"hi"}`, g.bearer()); got.code != http.StatusCreated {
		t.Fatalf("%d %s", got.code, got.body)
	}
	cookie := g.logIn()
	if got := g.send("GET", "/v1/runs/r1/events", "", cookie); got.code != http.StatusOK {
		t.Errorf("following: %d %s", got.code, got.body)
	}
	if got := g.send("POST", "/v1/runs/r1/cancel", "", cookie, csrf); got.code != http.StatusAccepted {
		t.Errorf("cancelling: %d %s", got.code, got.body)
	}
}
