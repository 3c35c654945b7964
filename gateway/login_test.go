package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
)

func TestS03ACodeLogsInOnce(t *testing.T) {
	g := guard(t, nil)
	code := g.code()
	got := g.send("POST", "/v1/login", `{"code":"`+code+`"}`)
	if got.code != http.StatusNoContent {
		t.Fatalf("%d %s", got.code, got.body)
	}
	cookie := got.header.Get("Set-Cookie")
	for _, want := range []string{"mulligan=", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=604800"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %s", want)
		}
	}
	if strings.Contains(cookie, g.token) || strings.Contains(cookie, code) || strings.Contains(cookie, "Domain") {
		t.Error("the cookie says too much")
	}
	if got := g.send("POST", "/v1/login", `{"code":"`+code+`"}`); got.code != http.StatusUnauthorized || got.header.Get("Set-Cookie") != "" {
		t.Errorf("the code again: %d", got.code)
	}
	if len(code) < 22 {
		t.Errorf("a code has %d characters", len(code))
	}
}

// TestS03ACodeIsTakenByOne: of many who post a code at the same time one is let in.
func TestS03ACodeIsTakenByOne(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Limits.Failures = 100 })
	for range 5 {
		code, in := g.code(), make(chan int, 16)
		var wg sync.WaitGroup
		for range cap(in) {
			wg.Go(func() { in <- g.send("POST", "/v1/login", `{"code":"`+code+`"}`).code })
		}
		wg.Wait()
		close(in)
		n := 0
		for status := range in {
			if status == http.StatusNoContent {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d logged in with one code", n)
		}
	}
}

func TestS03CodesAndSessionsExpire(t *testing.T) {
	g := guard(t, nil)
	late := g.code()
	g.clock.advance(59 * time.Second)
	cookie := g.logIn()
	g.clock.advance(2 * time.Second)
	if got := g.send("POST", "/v1/login", `{"code":"`+late+`"}`); got.code != http.StatusUnauthorized {
		t.Errorf("a code of 61 s: %d", got.code)
	}
	g.clock.advance(7*24*time.Hour - time.Minute)
	if got := g.send("GET", "/v1/runs", "", cookie); got.code != http.StatusOK {
		t.Errorf("a session of almost 7 days: %d", got.code)
	}
	g.clock.advance(time.Minute)
	if got := g.send("GET", "/v1/runs", "", cookie); got.code != http.StatusUnauthorized {
		t.Errorf("a session of 7 days: %d", got.code)
	}
}

func TestS03LoggingOutEndsTheSession(t *testing.T) {
	g := guard(t, nil)
	cookie, other := g.logIn(), g.logIn()
	if got := g.send("POST", "/v1/logout", "", cookie); got.code != http.StatusForbidden {
		t.Errorf("without the CSRF header: %d", got.code)
	}
	got := g.send("POST", "/v1/logout", "", cookie, csrf)
	if got.code != http.StatusNoContent || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v", got.code, got.header)
	}
	if got := g.send("GET", "/v1/runs", "", cookie); got.code != http.StatusUnauthorized {
		t.Errorf("after logging out: %d", got.code)
	}
	if got := g.send("GET", "/v1/runs", "", other); got.code != http.StatusOK {
		t.Errorf("another session: %d", got.code)
	}
}

// TestS03TheTokenTakesItsSessionsAlong: replacing the token ends the sessions and codes that were
// made with it; restarting the gateway does not.
func TestS03TheTokenTakesItsSessionsAlong(t *testing.T) {
	g := guard(t, nil)
	cookie, code := g.logIn(), g.code()
	logins, err := gateway.OpenLogins(g.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	restarted := guard(t, func(cfg *gateway.GuardConfig) { cfg.Token, cfg.Logins = g.file.Holds, logins })
	if got := restarted.send("GET", "/v1/runs", "", cookie); got.code != http.StatusOK {
		t.Errorf("after a restart: %d", got.code)
	}
	if err := gateway.RotateToken(g.dir); err != nil {
		t.Fatal(err)
	}
	g.until("the old token is refused", func() bool { return g.send("GET", "/v1/runs", "", g.bearer()).code != http.StatusOK })
	if got := g.send("GET", "/v1/runs", "", cookie); got.code == http.StatusOK {
		t.Errorf("a session of the old token: %d", got.code)
	}
	if got := g.send("POST", "/v1/login", `{"code":"`+code+`"}`); got.code != http.StatusUnauthorized {
		t.Errorf("a code of the old token: %d", got.code)
	}
}

func TestS03LoginsThatAreNone(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Limits.Failures = 100 })
	for body, want := range map[string]int{
		`{"code":"x"}`: 401, `{"code":"../../token"}`: 401, `{"code":""}`: 422, `{}`: 422, ``: 422, `{"code":7}`: 422,
		`{"code":"a","code":"b"}`: 400, `{"code":"` + strings.Repeat("x", 2000) + `"}`: 413,
	} {
		if got := g.send("POST", "/v1/login", body); got.code != want {
			t.Errorf("%.40s: %d, not %d", body, got.code, want)
		}
	}
	for name, headers := range map[string][]string{
		"another page's": {"Origin: http://evil.com"}, "a form": {"Origin: null", "Content-Type: application/x-www-form-urlencoded"},
	} {
		if got := g.send("POST", "/v1/login", `{"code":"`+g.code()+`"}`, headers...); got.code != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.code)
		}
	}
	if got := g.send("GET", "/v1/login?code="+g.code(), ""); got.code != http.StatusUnauthorized {
		t.Errorf("a code in the address: %d", got.code)
	}
	for _, path := range []string{"/v1/runs?token=", "/v1/runs?access_token=", "/v1/runs?authorization=Bearer%20"} {
		if got := g.send("GET", path+g.token, ""); got.code != http.StatusUnauthorized {
			t.Errorf("the token in the address: %d", got.code)
		}
	}
}

func TestS03TheCookieWithTLS(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.TLS = true })
	cookie := g.send("POST", "/v1/login", `{"code":"`+g.code()+`"}`).header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-mulligan=") || !strings.Contains(cookie, "; Secure") {
		_, attributes, _ := strings.Cut(cookie, ";")
		t.Errorf("the cookie's attributes: %s", attributes)
	}
}

// TestS03SecretsAreInNoFileAndNoLog: of a whole talk, with everything that can go wrong.
func TestS03SecretsAreInNoFileAndNoLog(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Limits.Failures = 3 })
	code := g.code()
	cookie := g.logIn()
	_, session, _ := strings.Cut(cookie, "=")
	wrong := strings.Repeat("w", 43)
	for range 5 {
		g.send("GET", "/v1/runs", "", "Authorization: Bearer "+wrong)
		g.send("POST", "/v1/login", `{"code":"`+wrong+`"}`)
	}
	g.send("GET", "/v1/runs?token="+g.token, "", g.bearer())
	g.send("POST", "/v1/runs", `{"prompt":`, cookie, csrf)
	g.send("GET", "/v1/runs", "", cookie, "Host: evil.com")
	g.send("GET", "/v1/runs", "", cookie, "Origin: null")
	answers := g.send("GET", "/v1/runs/"+g.token, "", g.bearer()).header
	for _, secret := range []string{g.token, code, session, wrong} {
		if strings.Contains(g.log.String(), secret) {
			t.Error("a secret is in the log")
		}
		for name, values := range answers {
			if strings.Contains(strings.Join(values, " "), secret) {
				t.Errorf("a secret is in the header %s", name)
			}
		}
	}
	err := filepath.WalkDir(g.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && path != g.dir {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		if entry.IsDir() || entry.Name() == "token" {
			return nil
		}
		data, err := os.ReadFile(path)
		for _, secret := range []string{g.token, code, session} {
			if strings.Contains(path+string(data), secret) {
				t.Errorf("a secret is in %s", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if !strings.Contains(g.log.String(), "could not be let in") {
		t.Error("nothing was logged")
	}
}

// TestS03OldSessionsMakeRoom: at most 256 sessions and 64 codes are kept, and the oldest go first.
func TestS03OldSessionsMakeRoom(t *testing.T) {
	g := guard(t, nil)
	first := g.logIn()
	for range 256 {
		g.clock.advance(time.Second)
		g.logIn()
	}
	if got := g.send("GET", "/v1/runs", "", first); got.code != http.StatusUnauthorized {
		t.Errorf("the oldest session: %d", got.code)
	}
	for range 100 {
		g.clock.advance(time.Millisecond)
		g.code()
	}
	for name, most := range map[string]int{"codes": 64, "sessions": 256} {
		files, err := os.ReadDir(filepath.Join(g.dir, "login", name))
		if err != nil || len(files) != most {
			t.Errorf("%d %s: %v", len(files), name, err)
		}
	}
}
