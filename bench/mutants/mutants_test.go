package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/bench/internal/tree"
)

const root = "../.."

// TestEveryPatchApplies: each patch applies to the work tree as it is.
func TestEveryPatchApplies(t *testing.T) {
	mutants, err := load(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	work, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if err := (&tree.Tree{Dir: work}).Apply(t.Context(), m.path, "--check"); err != nil {
			t.Errorf("%s: %v\nmake the patch anew: see the package's documentation", m.name, err)
		}
	}
}

// TestKill: a mutant that its test detects is killed, and one that no test detects survives.
func TestKill(t *testing.T) {
	for _, c := range []struct{ name, test, want string }{
		{"I01-seen", "\tif one() != 1 {\n\t\tt.Error(\"I01: it is not one\")\n\t}\n", ""},
		{"I01-unseen", "\t_ = one()\n", "its test passes"},
		{"I01-nameless", "\tif one() != 1 {\n\t\tt.Error(\"no\")\n\t}\n", "does not name I01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := t.TempDir()
			write(t, repo, "go.mod", "module one\n\ngo 1.24\n")
			write(t, repo, "one.go", "package one\n\nfunc one() int {\n\treturn 1\n}\n")
			write(t, repo, "one_test.go", "package one\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n"+c.test+"}\n")
			write(t, repo, folder+"/"+c.name+".patch", "# go test ./... SETTING=1\n# It is two.\n"+
				"diff --git a/one.go b/one.go\n--- a/one.go\n+++ b/one.go\n@@ -3,3 +3,3 @@\n func one() int {\n-\treturn 1\n+\treturn 2\n }\n")
			git(t, repo, "init", "-q")
			git(t, repo, "add", ".")
			err := run(t.Context(), repo, nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
