package server

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/config"
)

// TestTokenThatHoldsForNobody: the log says once why, as after a token was replaced by a file that
// others can read; callers learn nothing of it.
func TestTokenThatHoldsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		srv := &Server{Dir: t.TempDir(), Config: &config.Config{}}
		own, err := srv.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		digest, err := own.Digest()
		if err != nil {
			t.Fatal(err)
		}
		token := &outspoken{Token: own, log: slog.New(slog.NewTextHandler(&said, nil))}
		for mode, want := range map[os.FileMode]bool{0o644: false, 0o600: true} {
			if err := os.Chmod(filepath.Join(srv.Dir, "token"), mode); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			for range 2 {
				if ok, err := token.Holds(digest); ok != want || err != nil {
					t.Errorf("mode %04o: %v, %v", mode, ok, err)
				}
			}
		}
		if lines := said.String(); strings.Count(lines, "\n") != 1 || !strings.Contains(lines, "chmod 600") {
			t.Errorf("the log says %q", lines)
		}
	})
}
