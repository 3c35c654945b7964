package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
)

func TestBrowser(t *testing.T) {
	for _, c := range []struct{ system, env, want string }{
		{"darwin", "", "open"},
		{"linux", "", ""},
		{"linux", "DISPLAY=:0", "xdg-open"},
		{"linux", "WAYLAND_DISPLAY=wayland-0", "xdg-open"},
		{"linux", "BROWSER=firefox", "firefox"},
		{"linux", "BROWSER=w3m:lynx", "w3m"},
		{"linux", "BROWSER=sh -c %s", ""}, // a command line is no program
		{"plan9", "DISPLAY=:0", ""},
	} {
		name, value, _ := strings.Cut(c.env, "=")
		got, ok := browser(c.system, func(key string) string {
			if key == name {
				return value
			}
			return ""
		})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s, %s: %q %v, want %q", c.system, c.env, got, ok, c.want)
		}
	}
}

// TestOpenBrowser: the browser's arguments have no code, only the path of a file for its owner, in
// which the link is; that link lets somebody in.
func TestOpenBrowser(t *testing.T) {
	dir := t.TempDir()
	said, program := filepath.Join(dir, "said"), filepath.Join(dir, "browser")
	script := "#!/bin/sh\necho \"$@\" >" + said + "\ncat \"$1\" >>" + said + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("BROWSER", program)
	srv, err := New(&config.Config{State: filepath.Join(dir, "state")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.OpenLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	for range 2 { // a second time there is a file already
		srv.invite(t.Context(), "http://127.0.0.1:1", true)()
	}
	text, err := os.ReadFile(said) //nolint:gosec // the test's own
	if err != nil {
		t.Fatal(err)
	}
	arguments, page, _ := strings.Cut(string(text), "\n")
	if strings.Contains(arguments, "code") || !strings.Contains(page, "url=http://127.0.0.1:1/#code=") {
		t.Errorf("%s\n%s", arguments, page)
	}
	if info, err := os.Stat(arguments); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}
