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

// patience is how long a program may take to say its version, on a busy machine.
var patience = time.Minute

// Programs skips a test, aloud, where one of the programs does not run; with CI=true the
// test fails. what is the thing that needs them.
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

// versions are how a program is asked for its version, where that is not by --version.
var versions = map[string]string{"go": "version", "java": "-version", "tmux": "-V"}

// known is what was found out of programs, by their paths.
var known sync.Map

// Runs says why a program cannot be used: it is not on the PATH, or it is and does not run.
func Runs(program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	once, _ := known.LoadOrStore(path, sync.OnceValue(func() error { return runs(path, versions[program]) }))
	return once.(func() error)() //nolint:errcheck,forcetypeassert // nothing else is stored
}

// runs starts the program at path, which is to say its version.
func runs(path, ask string) error {
	if ask == "" {
		ask = "--version"
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, ask)
	cmd.WaitDelay = time.Second // what it has started may keep its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("it does not run: %w: %.200q", err, first)
	}
	return nil
}
