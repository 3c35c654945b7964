package growth

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/bench/internal/tree"
)

const (
	root   = "../.."
	folder = root + "/testdata/growth"
)

// work is one of the patches.
type work struct {
	path  string // absolute
	most  int    // product files
	files []string
	steps [][]string // commands that are run after the patch was applied
}

// TestEveryPatchApplies: each patch applies to the work tree as it is, and touches no more files
// than its bound.
func TestEveryPatchApplies(t *testing.T) {
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kind", "event", "provider", "hook"} {
		w := read(t, name)
		if err := (&tree.Tree{Dir: top}).Apply(t.Context(), w.path, "--check"); err != nil {
			t.Errorf("%s: %v\nmake the patch anew: see the package's documentation", name, err)
		}
		if len(w.files) > w.most {
			t.Errorf("%s touches %d files of the product, and %d are the most:\n%s", name, len(w.files), w.most, strings.Join(w.files, "\n"))
		}
	}
}

// TestGrowth: a patch's files are all that has to be changed.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and tests four copies of the repository")
	}
	for _, name := range []string{"kind", "event", "provider", "hook"} {
		t.Run(name, func(t *testing.T) {
			w := read(t, name)
			copied := grown(t, w)
			for _, file := range w.files {
				if isGenerated(t, filepath.Join(copied.Dir, file)) {
					t.Errorf("%s is generated: take it out of the patch", file)
				}
			}
			for _, args := range w.steps {
				if out, err := run(t, copied.Dir, args...); err != nil {
					t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
				}
			}
		})
	}
}

// TestForgotten: if a place is left out, something fails.
func TestForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and tests copies of the repository")
	}
	for _, c := range []struct {
		work, file string
		args       []string
	}{
		{"kind", "failure/copy.go", []string{"go", "test", "./failure", "-run", "TestEveryKindHasWords"}},
		{"kind", "proto/mulligan/v1/failure.proto", []string{"go", "test", "./internal/protoconv"}},
		{"kind", "plugins/autorecover/plan.go", []string{"go", "test", "./plugins/autorecover", "-run", "TestEveryKindHasAPlan"}},
		{"event", "recovery/apply.go", []string{".cache/bin/golangci-lint", "run", "--allow-parallel-runners", "--enable-only", "gochecksumtype", "./recovery"}},
		{"event", "recovery/line.go", []string{".cache/bin/golangci-lint", "run", "--allow-parallel-runners", "--enable-only", "gochecksumtype", "./recovery"}},
		{"event", "sdk/typescript/client/src/event.ts", []string{"go", "test", "./recovery", "-run", "TestEventsOfTheClients"}},
		{"hook", "hooks/occasion.go", []string{"go", "test", "./hooks"}},
		{"provider", "provider/provider.go", []string{"go", "test", "./provider", "-run", "TestDefaults"}},
	} {
		t.Run(c.work+" without "+filepath.Base(c.file), func(t *testing.T) {
			w := read(t, c.work)
			if !slices.Contains(w.files, c.file) {
				t.Fatalf("%s does not touch %s", c.work, c.file)
			}
			copied := grown(t, w, "--exclude="+c.file)
			if out, err := run(t, copied.Dir, c.args...); err == nil {
				t.Errorf("%s does not miss %s:\n%s", strings.Join(c.args, " "), c.file, out)
			} else if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
				t.Errorf("it does not compile, so that nothing was asked:\n%s", out)
			}
		})
	}
}

// grown is a copy of the repository with the patch applied.
func grown(t *testing.T, w work, args ...string) *tree.Tree {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, top, "make", "--silent", ".cache/bin/buf", ".cache/bin/protoc-gen-go", ".cache/bin/golangci-lint"); err != nil {
		t.Fatalf("the tools: %v\n%s", err, out)
	}
	copied, err := tree.Copy(t.Context(), root, "growth-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := copied.Remove(); err != nil {
			t.Error(err)
		}
	})
	if err := os.Symlink(filepath.Join(top, ".cache"), filepath.Join(copied.Dir, ".cache")); err != nil {
		t.Fatal(err)
	}
	if err := copied.Apply(t.Context(), w.path, args...); err != nil {
		t.Fatal(err)
	}
	return copied
}

// run runs a command in a folder. With -trimpath the compiled packages are the same in every copy,
// and are compiled once. A copy lacks what lies beside the repository, which tests may do without
// if CI is not set.
func run(t *testing.T, dir string, args ...string) ([]byte, error) {
	t.Helper()
	name := args[0]
	if strings.Contains(name, "/") {
		name = filepath.Join(dir, name)
	}
	cmd := exec.CommandContext(t.Context(), name, args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath", "CI=")
	return cmd.CombinedOutput()
}

var boundForm = regexp.MustCompile(`^# at most (\d+) files$`)

// read reads a patch and the lines before it.
func read(t *testing.T, name string) work {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(folder, name+".patch"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := work{path: path}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "# $ "); ok {
			w.steps = append(w.steps, strings.Fields(command))
		} else if bound := boundForm.FindStringSubmatch(line); bound != nil {
			_, _ = fmt.Sscan(bound[1], &w.most)
		} else if strings.HasPrefix(line, "diff --git ") {
			if _, file, _ := strings.Cut(line, " b/"); isProduct(file) {
				w.files = append(w.files, file)
			}
		}
	}
	if w.most == 0 || len(w.files) == 0 || len(w.steps) == 0 {
		t.Fatalf("%s.patch lacks a bound, a file or a step: %+v", name, w)
	}
	return w
}

// isProduct leaves out tests, test data and documents.
func isProduct(file string) bool {
	return !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, ".md") && !strings.Contains("/"+file, "/testdata/") && !strings.Contains("/"+file, "/tests/")
}

func isGenerated(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.Contains(strings.ToLower(first), "generated")
}
