package pi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/provider/pi/pitest"
)

func TestMain(m *testing.M) {
	if code, is := pitest.Main(os.Args); is {
		os.Exit(code)
	}
	if command := os.Getenv(tapCommand); command != "" {
		os.Exit(tapPi(command))
	}
	os.Exit(m.Run())
}

// fake makes an engine whose Pi plays the script.
func fake(t *testing.T, script string, change ...func(*Config)) *Engine {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Command: pitest.Command(self, path, filepath.Join(dir, "place")), Env: []string{}, Folder: filepath.Join(dir, "agent"), ConfigDir: filepath.Join(dir, "none")}
	for _, c := range change {
		c(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := parseVersion([]byte(strings.TrimPrefix(script, "version "))); ok {
		e.version = &v // as if it had been asked: that takes a process of its own
	}
	t.Cleanup(func() {
		e.Close()
		left := 0
		for _, s := range e.sessions {
			if p := s.last(); p != nil && !procgroup.Within(p.Exited(), time.Second) {
				left++
			}
		}
		if left > 0 {
			t.Errorf("%d processes are left", left)
		}
	})
	return e
}
