package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// machine is a server with a state folder of its own, and its gateway.
type machine struct {
	*Server
	t   *testing.T
	url string
}

func startMachine(t *testing.T, store string) *machine {
	t.Helper()
	c, err := config.Load("", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	c.State = t.TempDir()
	if err := c.SetStore(store); err != nil {
		t.Fatal(err)
	}
	srv, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	guard, _, err := srv.guard(t.Context(), &Reach{}, api, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	face := httptest.NewServer(guard)
	t.Cleanup(face.Close)
	return &machine{Server: srv, t: t, url: face.URL}
}

func (m *machine) ask(method, path, body string, headers ...string) (status int, cookie string) {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.url+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	cookie, _, _ = strings.Cut(res.Header.Get("Set-Cookie"), ";")
	return res.StatusCode, "Cookie: " + cookie
}

// logIn makes a link here, as "mulligan login" does, and follows it at another machine.
func (m *machine) logIn(at *machine) (code, cookie string) {
	m.t.Helper()
	link, err := m.LoginLink(m.t.Context(), "http://the.balancer")
	if err != nil {
		m.t.Fatal(err)
	}
	_, code, _ = strings.Cut(link, "#code=")
	status, cookie := at.ask("POST", "/v1/login", `{"code":"`+code+`"}`)
	if status != http.StatusNoContent {
		m.t.Fatalf("a link of one machine at another: %d", status)
	}
	return code, cookie
}

func (m *machine) bearer() string {
	m.t.Helper()
	token, err := gateway.ReadToken(m.Dir)
	if err != nil {
		m.t.Fatal(err)
	}
	return "Authorization: Bearer " + token
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestAnyMachineLetsIn: whoever is let in by one of the machines that share a database is by each:
// with its token, with a link that another made, once, and with a browser's session, until that
// ends at any.
func TestAnyMachineLetsIn(t *testing.T) {
	store := pgtest.Database(t)
	a, b := startMachine(t, store), startMachine(t, store)
	const csrf = "X-Mulligan-CSRF: 1"
	for who, headers := range map[string][]string{"a's token": {a.bearer()}, "b's token": {b.bearer()}} {
		for _, m := range []*machine{a, b} {
			if status, _ := m.ask("GET", "/v1/runs", "", headers...); status != http.StatusOK {
				t.Errorf("%s: %d", who, status)
			}
		}
	}
	if status, _ := b.ask("GET", "/v1/runs", "", "Authorization: Bearer "+strings.Repeat("w", 43)); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
	code, cookie := a.logIn(b)
	for _, m := range []*machine{a, b} {
		if status, _ := m.ask("POST", "/v1/login", `{"code":"`+code+`"}`); status != http.StatusUnauthorized {
			t.Errorf("the link again: %d", status)
		}
		if status, _ := m.ask("GET", "/v1/runs", "", cookie); status != http.StatusOK {
			t.Errorf("the session: %d", status)
		}
	}
	if status, _ := a.ask("POST", "/v1/logout", "", cookie, csrf); status != http.StatusNoContent {
		t.Errorf("logging out: %d", status)
	}
	if status, _ := b.ask("GET", "/v1/runs", "", cookie); status != http.StatusUnauthorized {
		t.Errorf("after logging out elsewhere: %d", status)
	}
}

// TestATokenIsReplacedEverywhere: with the sessions that it vouched for, and nothing of another
// machine.
func TestATokenIsReplacedEverywhere(t *testing.T) {
	store := pgtest.Database(t)
	a, b := startMachine(t, store), startMachine(t, store)
	old := a.bearer()
	_, cookie := a.logIn(b)
	_, other := b.logIn(a)
	if err := a.RotateToken(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*machine{a, b} {
		for what, header := range map[string]string{"the old token": old, "a session of it": cookie} {
			eventually(t, what+" is refused", func() bool {
				status, _ := m.ask("GET", "/v1/runs", "", header)
				return status == http.StatusUnauthorized || status == http.StatusTooManyRequests
			})
		}
		for what, header := range map[string]string{"the new token": a.bearer(), "a session of another machine's": other} {
			if status, _ := m.ask("GET", "/v1/runs", "", header); status != http.StatusOK {
				t.Errorf("%s: %d", what, status)
			}
		}
	}
}

// TestWhoMayWithoutADatabase: while it does not answer, a machine lets in whom it knows itself,
// and says of others that it cannot tell.
func TestWhoMayWithoutADatabase(t *testing.T) {
	store := pgtest.Database(t)
	a, b := startMachine(t, store), startMachine(t, store)
	_, cookie := a.logIn(b)
	if err := b.Log.Close(); err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]int{b.bearer(): http.StatusOK, a.bearer(): http.StatusServiceUnavailable, cookie: http.StatusServiceUnavailable} {
		eventually(t, "what it says without a database", func() bool {
			status, _ := b.ask("GET", "/v1/runs", "", header)
			return status == want
		})
	}
	if _, err := a.LoginLink(context.WithoutCancel(t.Context()), ""); err != nil {
		t.Error(err)
	}
}
