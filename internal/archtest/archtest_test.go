package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// TestMain reads every folder and the git index, since the go command reuses a cached result unless
// a file that this very process opened has changed; files that only git and go list read do not
// count.
func TestMain(m *testing.M) {
	_ = filepath.WalkDir(root, func(name string, entry os.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() && name != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		return nil // the tests report what cannot be read
	})
	_, _ = os.Stat(filepath.Join(root, ".git", "index")) // absent in a worktree or a tarball
	os.Exit(m.Run())
}

func TestPlanHolds(t *testing.T) {
	pkgs, err := Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := Load(t.Context(), filepath.Join(root, "bench"))
	if err != nil || len(outside) < 10 {
		t.Fatalf("%d packages of module bench: %v", len(outside), err)
	}
	report(t, Check(append(pkgs, outside...)))
}

// TestBenchBuilds: go test ./... at the top does not compile module bench, so changes that break it
// are found here.
func TestBenchBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs bench's own tests")
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "./...")
	cmd.Dir = filepath.Join(root, "bench")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("cd bench && go vet ./...: %v\n%s", err, out)
	}
}

// TestNoTestersInGoMod: an embedder inherits every dependency in our go.mod.
func TestNoTestersInGoMod(t *testing.T) {
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"chromedp", "porcupine"} {
		if bytes.Contains(ours, []byte(module)) {
			t.Errorf("go.mod has %s: what only benches need is for bench/go.mod", module)
		}
	}
}

func TestHeartReadsNoClock(t *testing.T) {
	for _, room := range []string{"recovery", "failure", "wire"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(name string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || !isCode(name) {
				return err
			}
			found, err := CheckClock(name, nil)
			report(t, found)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// machinePath is the index of the first absolute path that exists only on its author's machine, or
// -1. It searches for fixed words first, since a regular expression over every byte takes minutes.
func machinePath(content []byte) int {
	for _, folder := range []string{"work", "root"} {
		word := []byte("/" + folder + "/")
		for from := 0; ; from += len(word) {
			at := bytes.Index(content[from:], word)
			if at < 0 {
				break
			}
			from += at
			if from == 0 || !withinPath.Match(content[from-1:from]) {
				return from
			}
		}
	}
	return -1
}

// withinPath matches a character before a slash that does not begin an absolute path.
var withinPath = regexp.MustCompile(`[\w.*-]`)

func TestNoMachinePaths(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	tracked, err := cmd.Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git ls-files:", err)
		}
		t.Skip("only a git checkout can say which files are ours:", err)
	}
	for name := range strings.FieldsFuncSeq(string(tracked), func(r rune) bool { return r == 0 }) {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, but not committed yet
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if at := machinePath(content); at >= 0 {
			line := 1 + bytes.Count(content[:at], []byte("\n"))
			t.Errorf("%s:%d names a path of one particular machine: %s", name, line, content[at:min(at+16, len(content))])
		}
	}
}

func report(t *testing.T, found []Violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}
