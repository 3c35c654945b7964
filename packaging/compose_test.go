package packaging

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// composed is what the tests want of compose.yaml.
type composed struct {
	Services map[string]struct {
		ReadOnly    bool     `yaml:"read_only"`
		Tmpfs       []string `yaml:"tmpfs"`
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
		Environment map[string]string
	}
}

// TestCompose starts what compose.yaml names, and waits until it is healthy.
func TestCompose(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an image")
	}
	e := anEngine(t)
	if out, err := e.can("compose", "version"); err != nil {
		t.Skipf("NOT TESTED: compose.yaml was not started, because %s has no compose here: %v\n%s", e.program, err, out)
	}
	for _, image := range []string{"postgres:17", "golang:1.26-bookworm"} {
		if out, err := e.can("pull", image); err != nil {
			t.Skipf("NOT TESTED: compose.yaml was not started, because %s cannot be had here: %v\n%s", image, err, out)
		}
	}
	t.Setenv("MULLIGAN_DB_PASSWORD", "only-for-a-test")
	project := []string{"compose", "--file", "compose.yaml", "--project-name", "mulligan-test"}
	t.Cleanup(func() { _, _ = e.can(append(project, "down", "--volumes", "--rmi", "local")...) })
	e.does(t, append(project, "up", "--build", "--detach", "--wait", "--wait-timeout", "300")...)
	e.does(t, append(project, "exec", "-T", "mulligan", "mulligan", "login", "--url", "http://127.0.0.1:8484")...)
}

// TestComposedService runs the image as compose.yaml does, with a database of this machine's.
func TestComposedService(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an image")
	}
	e := anEngine(t)
	var c composed
	if err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	s := c.Services["mulligan"]
	if store := s.Environment["MULLIGAN_STORE"]; !s.ReadOnly || len(s.CapDrop) == 0 || len(s.SecurityOpt) == 0 || store != "postgres://mulligan@postgres/mulligan" {
		t.Fatalf("%+v", s)
	}
	database := pgtest.Begin(t)
	if err := os.Chmod(filepath.Dir(database.Socket()), 0o755); err != nil { //nolint:gosec // the container's user finds the socket there
		t.Fatal(err)
	}
	run := []string{"run", "--detach", "--network", "none", "--read-only", "--volume", filepath.Dir(database.Socket()) + ":/database"}
	for flag, values := range map[string][]string{"--tmpfs": s.Tmpfs, "--cap-drop": s.CapDrop, "--security-opt": s.SecurityOpt} {
		for _, value := range values {
			run = append(run, flag, strings.TrimSuffix(value, ":true"))
		}
	}
	run = append(run, "--env", "MULLIGAN_STORE=postgres://mulligan@/postgres?host=/database&sslmode=disable")
	id := lastLine(e.does(t, slices.Concat(run, e.run, []string{e.image(t)})...))
	t.Cleanup(func() { _, _ = e.can("rm", "--force", "--volumes", id) })
	e.healthy(t, id)
	if logs := e.does(t, "logs", id); !strings.Contains(logs, `store="postgres://`) {
		t.Errorf("it says\n%s", logs)
	}
	database.Crash()
	if out, err := e.can("exec", id, "mulligan", "serve", "--probe"); err == nil {
		t.Errorf("without its database it is healthy: %s", out)
	}
}
