package needs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// versionTimeout is how long a program may take to say its version, on a busy machine.
var versionTimeout = time.Minute

// Programs skips a test with a message if one of the programs does not run; with CI=true
// the test fails instead. what is what needs them.
func Programs(t testing.TB, what string, programs ...string) {
	t.Helper()
	for _, program := range programs {
		err := Runs(program)
		if err != nil && os.Getenv("CI") == "true" {
			t.Fatalf("%s needs %s: %v", what, program, err)
		}
		if err != nil {
			t.Skipf("NOT TESTED: %s needs %s: %v", what, program, err)
		}
	}
}

// versions are the arguments that print a program's version, if that is not --version.
var versions = map[string]string{"go": "version", "java": "-version", "tmux": "-V", "haproxy": "-v"}

// known caches the results, by the programs' paths.
var known sync.Map

// Runs says why a program cannot be used: it is not on the PATH, or it does not run.
func Runs(program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	once, _ := known.LoadOrStore(path, sync.OnceValue(func() error { return runs(path, versions[program]) }))
	return once.(func() error)() //nolint:errcheck,forcetypeassert // nothing else is stored
}

// runs starts the program at path to print its version.
func runs(path, ask string) error {
	if ask == "" {
		ask = "--version"
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, ask)
	cmd.WaitDelay = time.Second // its children may keep the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("it does not run: %w: %.200q", err, first)
	}
	return nil
}
