package needs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stub puts a program that fails first on the PATH.
func stub(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestAStubIsNoToolchain(t *testing.T) {
	stub(t, "cargo", "echo 'error: rustup could not choose a version of cargo to run' >&2; exit 1\n")
	if err := Runs("cargo"); err == nil || !strings.Contains(err.Error(), "does not run") || !strings.Contains(err.Error(), "rustup could not choose") {
		t.Error(err)
	}
	if err := Runs("no-such-program-anywhere"); err == nil {
		t.Error("a program that is not there runs")
	}
	if err := Runs("go"); err != nil {
		t.Error(err)
	}
}

// TestAStubThatHangs: neither a stub that hangs nor a process that it started is waited for.
func TestAStubThatHangs(t *testing.T) {
	usual := versionTimeout
	versionTimeout = 100 * time.Millisecond
	defer func() { versionTimeout = usual }()
	pid := filepath.Join(t.TempDir(), "pid")
	stub(t, "cargo", "sleep 1000 &\necho $! >'"+pid+"'\nwait\necho never\n")
	t.Cleanup(func() { // the process inherited open files, such as a lock
		said, _ := os.ReadFile(pid)
		if sleeper, err := strconv.Atoi(strings.TrimSpace(string(said))); err == nil {
			_ = syscall.Kill(sleeper, syscall.SIGKILL)
		}
	})
	begun := time.Now()
	if err := Runs("cargo"); err == nil || !strings.Contains(err.Error(), "does not run") || time.Since(begun) > time.Minute {
		t.Error(err)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	stub(t, "cargo", "exit 1\n")
	t.Setenv("CI", "")
	t.Run("skipped", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("it was not skipped")
			}
		}()
		Programs(t, "a plugin in Rust", "cargo")
	})
}
