package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// language is an SDK: how to make its conformance plugin and how to start it.
type language struct {
	name    string
	needs   []string                                // on the PATH
	prepare func(t *testing.T, dir string) []string // gives the command; dir is empty and removed afterwards
}

var languages = []language{
	{name: "go", needs: []string{"go"}, prepare: func(t *testing.T, dir string) []string {
		program := filepath.Join(dir, "goplugin")
		run(t, "go", "build", "-o", program, "./goplugin")
		return []string{program}
	}},
}

// command makes the language's plugin. Without its toolchain the test is skipped,
// loudly, and fails in the continuous integration.
func (l language) command(t *testing.T) Command {
	t.Helper()
	for _, tool := range l.needs {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s: no %s", l.name, tool)
			}
			t.Skipf("NOT TESTED: the %s SDK needs %s", l.name, tool)
		}
	}
	return Command{Args: l.prepare(t, t.TempDir())}
}

// run runs a step of a preparation.
func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
