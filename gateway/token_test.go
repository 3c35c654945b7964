package gateway_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
)

func TestS02TheTokenIsMadeForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := gateway.OpenToken(dir); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "token"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o", filepath.Base(path), got)
		}
	}
	token, err := gateway.ReadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(data) < 32 {
		t.Errorf("the token has %d bytes: %v", len(data), err)
	}
	if _, err := gateway.OpenToken(dir); err != nil {
		t.Fatal(err)
	}
	if again, _ := gateway.ReadToken(dir); again != token {
		t.Error("the second start made another token")
	}
}

func TestS02TokensThatAreNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	good := strings.Repeat("a", 43)
	for name, content := range map[string]string{"short": "hunter2", "empty": "", "long": strings.Repeat("a", 600), "two lines": good + "\n" + good} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := gateway.OpenToken(dir); err == nil || content != "" && strings.Contains(err.Error(), content) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o620} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := gateway.OpenToken(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// TestS02AReplacedTokenIsRefused: within a second, in virtual time, however it was replaced.
func TestS02AReplacedTokenIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		file, err := gateway.OpenToken(dir)
		if err != nil {
			t.Fatal(err)
		}
		old, err := file.Digest()
		holds := func(d gateway.Digest) bool {
			t.Helper()
			ok, err := file.Holds(d)
			if err != nil {
				t.Error(err)
			}
			return ok
		}
		if err != nil || !holds(old) || holds(gateway.Digest{}) || holds(gateway.DigestOf("")) {
			t.Fatal("the token does not hold, or others do", err)
		}
		if err := gateway.RotateToken(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if fresh, err := file.Digest(); holds(old) || err != nil || !holds(fresh) {
			t.Error("after a second the old token holds, or the new one does not", err)
		}
		if err := os.Remove(filepath.Join(dir, "token")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := file.Digest(); err == nil || holds(gateway.DigestOf("")) || holds(old) {
			t.Error("without a token something holds", err)
		}
	})
}

func TestS02TokensAreCheckedWhole(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Limits.Failures = 100 })
	for _, header := range []string{
		"Authorization: Bearer", "Authorization: Bearer ", "Authorization: Bearer x", "Authorization: Bearer " + g.token[1:],
		"Authorization: Bearer " + g.token + "x", "Authorization: Bearer  " + g.token, "Authorization: Basic " + g.token, "Authorization: " + g.token,
		"X-Token: " + g.token, "Cookie: mulligan=" + g.token, "Cookie: mulligan=../../token",
	} {
		if got := g.send("GET", "/v1/runs", "", header); got.code != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d", header, got.code)
		}
	}
	if got := g.send("GET", "/v1/runs", "", "Authorization: bearer "+g.token); got.code != http.StatusOK {
		t.Errorf("the token: %d", got.code)
	}
	if got := g.send("GET", "/v1/runs", "", g.bearer(), "Authorization: Bearer x"); got.code != http.StatusUnauthorized {
		t.Errorf("two tokens: %d", got.code)
	}
	if got := g.send("GET", "/v1/runs", "", g.logIn(), "Authorization: Bearer x"); got.code != http.StatusUnauthorized {
		t.Errorf("a wrong token and a session: %d", got.code)
	}
}
