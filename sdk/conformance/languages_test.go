package conformance

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// language is an SDK: what it takes to make its conformance plugin, and how to start
// that: the program itself, or with an exec in every wrapper around it. Or it has no
// SDK and one ordinary plugin, which is asked what its sessions say.
type language struct {
	name    string
	sources []string                               // files and folders that the plugin is made of
	needs   []string                               // on the PATH
	prepare func(t *testing.T, dir string) Command // dir is empty, and removed afterwards

	sessions []session // instead of the talks and of the checks that need commands
}

var languages = []language{
	{name: "go", sources: []string{"goplugin", "../go/plugin"}, needs: []string{"go"}, prepare: func(t *testing.T, dir string) Command {
		program := filepath.Join(dir, "goplugin")
		run(t, "go", "build", "-o", program, "./goplugin")
		return Command{Args: []string{program}}
	}},
	{name: "python", sources: pythonSources, needs: []string{"python3"}, prepare: pythonPlugin},
	{name: "typescript", sources: slices.Concat(typescriptSources, typescriptLock), needs: []string{"node", "npm"}, prepare: typescriptPlugin},
	{name: "rust", sources: rustSources, needs: []string{"cargo"}, prepare: rustPlugin},
	{name: "java", sources: javaSources, needs: []string{"java", "mvn"}, prepare: javaBusinessHours, sessions: javaSessions()},
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
	l.look(t)
	return l.prepare(t, t.TempDir())
}

// look looks at every source: the go command repeats a cached result unless
// something that this very process looked at has changed.
func (l language) look(t *testing.T) {
	t.Helper()
	for _, source := range l.sources {
		err := filepath.WalkDir(source, func(name string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a step of a preparation.
func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
