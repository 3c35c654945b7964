package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// counted asks a plugin that counts its answers in its folder, in a host of its own. On a machine
// that is busy a start may miss its 10 s: the plugin is asked again then, which it has not counted.
func counted(t *testing.T, spec Spec, options ...Option) string {
	t.Helper()
	h := New(options...)
	defer func() { _ = h.Close() }()
	spec.Restart, spec.Breaker = RestartPolicy{Max: 100, First: time.Millisecond}, BreakerPolicy{After: 20, Open: time.Millisecond}
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; {
		vote, _ := askWithin(t, h, patience)
		if vote.Error == "" {
			return vote.Reason
		}
		if !strings.Contains(vote.Error, "start") || time.Since(began) > 5*time.Minute {
			t.Fatal(vote.Error)
		}
	}
}

// TestStateOutlivesProcessesAndPins: a plugin's folder is its own, and is there again after its process,
// its host and another way of starting it.
func TestStateOutlivesProcessesAndPins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := faultySpec("count", "")
	if got := counted(t, spec, WithStateDir(dir)); got != "1" {
		t.Errorf("the first answer is number %q", got)
	}
	program := t.TempDir()
	if err := os.Symlink(spec.Command[0], filepath.Join(program, "plugin")); err != nil {
		t.Fatal(err)
	}
	again := spec
	again.Command = []string{filepath.Join(program, "plugin")}
	if got := counted(t, again, WithStateDir(dir)); got != "2" {
		t.Errorf("by another path the second answer is number %q", got)
	}
	other := spec
	other.Name = "Faulty"
	if got := counted(t, other, WithStateDir(dir)); got != "1" {
		t.Errorf("the first answer of another plugin is number %q", got)
	}
	folder := filepath.Join(dir, "state", spec.Name)
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", folder, info, err)
	}
}

// TestNoStateWithoutAPlace: a host without a state folder gives none, nor may the configuration name another one.
func TestNoStateWithoutAPlace(t *testing.T) {
	t.Parallel()
	if got := counted(t, faultySpec("count", "")); got != "no folder" {
		t.Errorf("answer %q", got)
	}
	elsewhere := faultySpec("count", "", stateVariable+"="+t.TempDir())
	dir := t.TempDir()
	if got := counted(t, elsewhere, WithStateDir(dir)); got != "1" {
		t.Errorf("answer %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "state", elsewhere.Name, "count")); err != nil {
		t.Errorf("a variable of the configuration names the folder: %v", err)
	}
}

func TestFolderNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"rules", "Rules", "a b", "a_b", "a.b", ".", "..", "../x", "a/b", "ärger", strings.Repeat("x", 100), strings.Repeat("X", 100)} {
		got := folderName(name)
		if other, taken := seen[got]; taken || got != filepath.Base(got) || strings.HasPrefix(got, ".") || len(got) > 200 {
			t.Errorf("%q is %q (also of %q)", name, got, other)
		}
		seen[got] = name
	}
}
