package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// TestS13NamesThatLeadElsewhere: an id is [a-z0-9-]{1,64}, however it is spelled in a path;
// no answer has anything of a file.
func TestS13NamesThatLeadElsewhere(t *testing.T) {
	g := guard(t, nil)
	g.send("POST", "/v1/runs", `{"prompt":"hi"}`, g.bearer())
	for _, id := range []string{
		"..%2f..%2ftoken", "%2e%2e%2ftoken", "..%5c..%5ctoken", "%2Fetc%2Fpasswd", "..%252ftoken", "%00", "r1%00", "r1%0a", "r1%20", "r1.json", "R1",
		"r_1", "%C3%A9", strings.Repeat("a", 65), "~", "r1;x", "*", "%25",
	} {
		for _, rest := range []string{"", "/events"} {
			if got := g.send("GET", "/v1/runs/"+id+rest, "", g.bearer()); got.code != http.StatusUnprocessableEntity {
				t.Errorf("%s%s: %d %s", id, rest, got.code, got.body)
			}
		}
		if got := g.send("POST", "/v1/runs/"+id+"/cancel", "", g.bearer()); got.code != http.StatusUnprocessableEntity {
			t.Errorf("cancelling %s: %d %s", id, got.code, got.body)
		}
	}
	for _, path := range []string{"/v1/runs/../../token", "/v1/runs/./r1", "/v1//runs", "/v1/runs/r1/..", "/v1/runs/"} {
		if got := g.send("GET", path, "", g.bearer()); got.code == http.StatusOK {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// TestS13NoLinkLeadsOutOfTheLogins: whoever writes into the folder cannot make the gateway
// read what lies elsewhere.
func TestS13NoLinkLeadsOutOfTheLogins(t *testing.T) {
	g := guard(t, nil)
	cookie := g.logIn()
	_, id, _ := strings.Cut(cookie, "=")
	at := filepath.Join(g.dir, "login", "sessions", gateway.DigestOf(id).String())
	outside := filepath.Join(t.TempDir(), "session")
	if err := os.Rename(at, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, at); err != nil {
		t.Fatal(err)
	}
	if got := g.send("GET", "/v1/runs", "", cookie); got.code != http.StatusUnauthorized {
		t.Errorf("a session that is elsewhere: %d", got.code)
	}
}

// TestS35KeysAreTheirTokens: another token's request with the same idempotency key is
// another request; a session's is that of its token.
func TestS35KeysAreTheirTokens(t *testing.T) {
	other := "another token"
	var g *guarded
	g = guard(t, func(cfg *gateway.GuardConfig) {
		cfg.Token = func(d gateway.Digest) (bool, error) {
			if d == gateway.DigestOf(other) {
				return true, nil
			}
			return g.file.Holds(d)
		}
	})
	start := func(headers ...string) string {
		t.Helper()
		got := g.send("POST", "/v1/runs", `{"prompt":"hi"}`, append(headers, "Idempotency-Key: k")...)
		if got.code != http.StatusCreated {
			t.Fatalf("%d %s", got.code, got.body)
		}
		return got.header.Get("Location")
	}
	first := start(g.bearer())
	if again := start(g.bearer()); again != first {
		t.Errorf("the key began %s and %s", first, again)
	}
	if browser := start(g.logIn(), csrf); browser != first {
		t.Errorf("the key of a session began %s, not %s", browser, first)
	}
	if foreign := start("Authorization: Bearer " + other); foreign == first {
		t.Errorf("the key of another token gives %s", foreign)
	}
	for _, s := range g.runs.asked {
		if s.Key == "k" || strings.Contains(s.Key, g.token) {
			t.Errorf("the key is passed on as %q", s.Key)
		}
	}
}

// TestS35AnOldTokenAnswersNothing: there is one token at a time, so a suggestion never belongs to
// another token; it is answered with the current one.
func TestS35AnOldTokenAnswersNothing(t *testing.T) {
	g := guard(t, nil)
	g.send("POST", "/v1/runs", `{"prompt":"hi"}`, g.bearer())
	g.runs.fail(t, "r1")
	old := g.bearer()
	if err := gateway.RotateToken(g.dir); err != nil {
		t.Fatal(err)
	}
	g.until("the old token is refused", func() bool {
		return g.send("POST", "/v1/runs/r1/recover", `{"action":"no"}`, old).code == http.StatusUnauthorized
	})
	var err error
	if g.token, err = gateway.ReadToken(g.dir); err != nil {
		t.Fatal(err)
	}
	if got := g.send("POST", "/v1/runs/r1/recover", `{"action":"retry"}`, g.bearer()); got.code != http.StatusAccepted {
		t.Errorf("the new token: %d %s", got.code, got.body)
	}
}
