package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/procgroup/scarce"
)

// ask makes a request without a socket.
func (g *guarded) ask(header string) *httptest.ResponseRecorder {
	name, value, _ := strings.Cut(header, ": ")
	r := httptest.NewRequestWithContext(g.t.Context(), http.MethodGet, "/v1/runs", nil)
	r.Host = "localhost"
	r.Header.Set(name, value)
	w := httptest.NewRecorder()
	g.Config.Handler.ServeHTTP(w, r)
	return w
}

// TestS02WithoutDescriptors: the right token is let in and a wrong one is not, also if the token is
// new and there is no file descriptor left to read it with.
func TestS02WithoutDescriptors(t *testing.T) {
	g := guard(t, nil)
	old, was := g.bearer(), g.logIn()
	if err := gateway.RotateToken(g.dir); err != nil {
		t.Fatal(err)
	}
	var err error
	if g.token, err = gateway.ReadToken(g.dir); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); g.ask(old).Code != http.StatusUnauthorized; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the old token still holds")
		}
	}
	session := g.logIn()
	if err := gateway.RotateToken(g.dir); err != nil {
		t.Fatal(err)
	}
	if g.token, err = gateway.ReadToken(g.dir); err != nil {
		t.Fatal(err)
	}
	scarce.Descriptors(t)
	for deadline := time.Now().Add(10 * time.Second); g.ask(g.bearer()).Code != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new token does not hold")
		}
	}
	for range 8 {
		if got := g.ask(g.bearer()); got.Code != http.StatusOK {
			t.Errorf("the right token: %d %s", got.Code, got.Body)
		}
		for what, header := range map[string]string{"the old token": old, "the old token's session": was, "the token's before session": session} {
			if got := g.ask(header); got.Code != http.StatusUnauthorized && got.Code != http.StatusTooManyRequests {
				t.Errorf("%s: %d %s", what, got.Code, got.Body)
			}
		}
	}
}

// TestS02ASessionWithoutDescriptors: a browser stays logged in.
func TestS02ASessionWithoutDescriptors(t *testing.T) {
	g := guard(t, nil)
	session := g.logIn()
	scarce.Descriptors(t)
	for range 8 {
		if got := g.ask(session); got.Code != http.StatusOK {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
}

// TestS02AMachineThatFailsSaysNothingAboutTokens: if the machine fails, the token is not called
// wrong, and no failed login is counted.
func TestS02AMachineThatFailsSaysNothingAboutTokens(t *testing.T) {
	fails := true
	var g *guarded
	g = guard(t, func(cfg *gateway.GuardConfig) {
		cfg.Token = func(d gateway.Digest) (bool, error) {
			if fails {
				return false, &os.PathError{Op: "open", Path: "/secret/path", Err: syscall.EMFILE}
			}
			return g.file.Holds(d)
		}
	})
	for range 20 {
		got := g.ask("Authorization: Bearer wrong")
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "1" ||
			!strings.Contains(got.Body.String(), "too many open files") || strings.Contains(got.Body.String(), "secret") {
			t.Fatalf("%d %v %s", got.Code, got.Header(), got.Body)
		}
	}
	if got := g.send("POST", "/v1/login", `{"code":"`+g.code()+`"}`); got.code != http.StatusServiceUnavailable {
		t.Errorf("a login: %d %s", got.code, got.body)
	}
	fails = false
	if got := g.ask("Authorization: Bearer wrong"); got.Code != http.StatusUnauthorized {
		t.Errorf("then: %d %s", got.Code, got.Body)
	}
}
