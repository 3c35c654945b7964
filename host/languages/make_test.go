package languages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host"
)

// language is how its faulty plugin is made. What is installed and compiled is kept
// below .cache, as the tests of sdk/conformance keep it, and where they do.
type language struct {
	name    string
	needs   []string // on the PATH
	sources []string // that the plugin is made of
	build   func(t *testing.T) host.Spec
}

const (
	sdk    = "../../sdk/"
	faulty = "../testdata/faulty/"
	cache  = "../../.cache/"
)

var languages = []language{
	{"python", []string{"python3"}, []string{sdk + "python/src", sdk + "python/requirements.lock", faulty + "python"}, python},
	{"typescript", []string{"node", "npm"}, []string{sdk + "typescript/plugin/src", sdk + "typescript/plugin/package-lock.json", faulty + "typescript"}, typescript},
	{"rust", []string{"cargo"}, []string{sdk + "rust/src", sdk + "rust/Cargo.toml", faulty + "rust/src"}, rust},
}

// make is a spec with the command and the environment. Without its toolchain the test
// is skipped, loudly, and fails in the continuous integration.
func (l language) make(t *testing.T) host.Spec {
	t.Helper()
	for _, tool := range l.needs {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s: no %s", l.name, tool)
			}
			t.Skipf("NOT TESTED: plugins in %s need %s", l.name, tool)
		}
	}
	for _, source := range l.sources { // so that the go command repeats no result of older ones
		digest(t, source)
	}
	return l.build(t)
}

func python(t *testing.T) host.Spec {
	version, err := exec.Command("python3", "-c", "import platform; print(platform.python_version())").Output()
	if err != nil {
		t.Fatal(err)
	}
	parent := absolute(t, cache+"python/"+strings.TrimSpace(string(version)))
	installed := once(t, parent, []string{sdk + "python/requirements.lock"}, func(dir string) {
		run(t, "python3", "-m", "venv", filepath.Join(dir, "venv"))
		run(t, filepath.Join(dir, "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--no-deps", "--require-hashes", "-r", filepath.Join(dir, "requirements.lock"))
	})
	return host.Spec{
		Command: []string{filepath.Join(installed, "venv/bin/python"), absolute(t, faulty+"python/plugin.py")},
		Env:     []string{"PYTHONPATH=" + absolute(t, sdk+"python/src"), "PYTHONDONTWRITEBYTECODE=1"},
	}
}

func typescript(t *testing.T) host.Spec {
	const plugin = sdk + "typescript/plugin/"
	lock := []string{plugin + "package.json", plugin + "package-lock.json", plugin + ".npmrc"}
	sources := []string{plugin + "tsconfig.json", plugin + "src", plugin + "test"}
	installed := once(t, absolute(t, cache+"typescript"), lock, func(dir string) {
		run(t, "npm", "ci", "--ignore-scripts", "--prefix", dir)
	})
	compiled := once(t, installed, slices.Concat(sources, lock), func(dir string) {
		run(t, filepath.Join(installed, "node_modules/.bin/tsc"), "--project", dir)
	})
	return host.Spec{
		Command: []string{"node", absolute(t, faulty+"typescript/plugin.mjs")},
		Env:     []string{"SDK=" + filepath.Join(compiled, "dist/src/index.js")},
	}
}

func rust(t *testing.T) host.Spec {
	target := absolute(t, cache+"rust")
	run(t, "cargo", "build", "--quiet", "--manifest-path", faulty+"rust/Cargo.toml", "--target-dir", target)
	return host.Spec{Command: []string{filepath.Join(target, "debug/faulty")}}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// once makes a folder below parent out of copies of the sources, unless there is one
// that was made of the same.
func once(t *testing.T, parent string, sources []string, build func(dir string)) string {
	t.Helper()
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	half, err := os.MkdirTemp(parent, "half-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(half) }()
	for _, source := range sources {
		run(t, "cp", "-R", source, half)
	}
	whole := filepath.Join(parent, digest(t, half))
	if _, err := os.Stat(whole); err == nil {
		return whole
	}
	build(half)
	if err := os.Rename(half, whole); err != nil && !os.IsExist(err) { // another test may have been faster
		t.Fatal(err)
	}
	return whole
}

// digest names a folder after its content.
func digest(t *testing.T, dir string) string {
	t.Helper()
	hash := sha256.New()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(hash, "%s %d\n%s", strings.TrimPrefix(name, dir), len(content), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
