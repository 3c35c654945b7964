package scaffold

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/needs"
)

const repository = "../../.."

// newPlugins are the languages of new plugins: the programs that each needs on the PATH, and the
// sources that it uses besides its templates.
var newPlugins = map[string]struct{ needs, sources []string }{
	"go":         {[]string{"go"}, []string{"sdk/go/plugin", "internal/protoconv", "recovery", "failure", "hooks", "llm", "doc.go", "go.mod"}},
	"python":     {[]string{"python3"}, []string{"sdk/python/src", "sdk/python/pyproject.toml"}},
	"typescript": {[]string{"node", "npm"}, []string{"sdk/typescript/plugin/src", "sdk/typescript/plugin/package-lock.json"}},
	"java":       {[]string{"java", "mvn"}, []string{"sdk/java/src/main", "sdk/java/pom.xml"}},
	"rust":       {[]string{"cargo"}, []string{"sdk/rust/src", "sdk/rust/Cargo.toml"}},
}

// A new plugin passes its own "make test" unchanged, and then decides about the demo's failures.
// That takes minutes, so a success is remembered until something changes that the plugin is made
// of.
func TestNewPluginsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("installs and compiles")
	}
	folders, err := Templates.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		lang := folder.Name()
		if lang == "common" {
			continue
		}
		t.Run(lang, func(t *testing.T) {
			if newPlugins[lang].needs == nil {
				t.Fatal("it is not said what this language needs")
			}
			needs.Programs(t, "a new plugin in "+lang, append([]string{"make"}, newPlugins[lang].needs...)...)
			cache, err := filepath.Abs(filepath.Join(repository, ".cache/scaffold"))
			if err != nil {
				t.Fatal(err)
			}
			passed := filepath.Join(cache, lang+"-"+madeOf(t, lang))
			if _, err := os.Stat(passed); err == nil {
				t.Logf("it passed before, with the same sources: %s", passed)
				return
			}
			makesTest(t, lang, cache)
			if t.Failed() {
				return
			}
			if err := os.MkdirAll(cache, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(passed, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// makesTest creates a plugin with this program and uses it as the plugin's README says.
func makesTest(t *testing.T, lang, cache string) {
	checkout, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir() // without the repository
	dir, mulligan := filepath.Join(outside, "my-rules"), filepath.Join(outside, "bin", "mulligan")
	command(t, checkout, "go", "build", "-o", mulligan, "./cmd/mulligan")
	command(t, outside, mulligan, "plugin", "new", "my-rules", "--lang", lang)
	t.Setenv("CARGO_TARGET_DIR", filepath.Join(cache, "rust")) // only these build results take long and are the same every time
	said := command(t, dir, "make", "test", "MULLIGAN="+mulligan)
	if !strings.Contains(said, "my-rules 0.1.0: 5") || strings.Contains(said, "✗") {
		t.Errorf("make test said\n%s", said)
	}
	if lang == "python" {
		itsOwnRule(t, checkout, dir)
		if said := command(t, dir, "make", "test", "MULLIGAN="+mulligan); !strings.Contains(said, "5 passed") {
			t.Errorf("make test said\n%s", said)
		}
		asAWheel(t, dir, mulligan)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	unhurried(t, filepath.Join(dir, "mulligan.yaml"))
	command(t, dir, mulligan, "run", faultlab.DemoPrompt)
	runs := command(t, dir, mulligan, "runs", "list", "--json", "--limit", "1")
	var run struct{ Run string }
	if err := json.Unmarshal([]byte(runs), &run); err != nil {
		t.Fatalf("%v: %s", err, runs)
	}
	if said := command(t, dir, mulligan, "plugin", "replay", "my-rules", "--since", "7d"); !strings.Contains(said, "3 the same, 0 different") {
		t.Errorf("plugin replay said\n%s", said)
	}
	underDevelopment(t, lang, dir, mulligan)
	command(t, dir, mulligan, "plugin", "pin", "my-rules")
	command(t, dir, mulligan, "plugin", "verify")
	if said := command(t, dir, mulligan, "run", faultlab.DemoPrompt); strings.Contains(said, "did not answer") || !strings.Contains(said, "plugin my-rules 0.1.0 decides") {
		t.Errorf("pinned, the run said\n%s", said)
	}
	if said := command(t, dir, mulligan, "plugin", "list"); !strings.Contains(said, "my-rules") {
		t.Errorf("plugin list said\n%s", said)
	}
	story := command(t, dir, mulligan, "runs", "show", run.Run)
	for _, want := range []string{"retry in 1 s, by my-rules", "retry in 2 s, by my-rules", "switch to atlas/atlas-1 in 250 ms, by my-rules"} {
		if !strings.Contains(story, want) {
			t.Errorf("%q is not in\n%s", want, story)
		}
	}
	othersHaveIt(t, lang, dir, mulligan)
}

// asAWheel has pip build a wheel of the plugin, which must pass the conformance test in an empty
// folder.
func asAWheel(t *testing.T, dir, mulligan string) {
	t.Helper()
	env := filepath.Join(t.TempDir(), "env")
	command(t, dir, "python3", "-m", "venv", env)
	command(t, dir, filepath.Join(env, "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt", ".")
	if said := command(t, t.TempDir(), mulligan, "plugin", "test", filepath.Join(env, "bin/my-rules")); strings.Contains(said, "✗") {
		t.Errorf("of the wheel plugin test said\n%s", said)
	}
}

// underDevelopment does what the guide says about plugin dev: it shows questions and answers, other
// processes' runs use the plugin, and a change restarts it.
func underDevelopment(t *testing.T, lang, dir, mulligan string) {
	t.Helper()
	dev := exec.CommandContext(t.Context(), mulligan, "plugin", "dev", "my-rules")
	dev.Dir = dir
	said := &shared{}
	dev.Stdout, dev.Stderr = said, said
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- dev.Wait() }()
	said.wait(t, "✓ Plugin my-rules ")
	if run := command(t, dir, mulligan, "run", faultlab.DemoPrompt); !strings.Contains(run, "Using dev plugin my-rules") {
		t.Errorf("the run said\n%s", run)
	}
	said.wait(t, "→ retry in 1 s")
	source := map[string]string{"java": "target/my-rules/my-rules", "python": "plugin.py", "typescript": "dist/rules.js"}[lang]
	if source == "" {
		source = "bin/my-rules"
	}
	content, err := os.ReadFile(filepath.Join(dir, source))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, source+".new"), append(content, '\n'), 0o700); err != nil { // #nosec G306: it is a program
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, source+".new"), filepath.Join(dir, source)); err != nil { // as compilers replace a running program
		t.Fatal(err)
	}
	said.wait(t, "was started anew")
	if err := dev.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = dev.Process.Kill()
		t.Errorf("plugin dev does not end:\n%s", said)
	}
}

// shared is the output of a running program.
type shared struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until the output contains want.
func (s *shared) wait(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(s.String(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q is not said:\n%s", want, s)
		}
	}
}

// itsOwnRule does what the guide says with the guide's example: it puts a rule before the others,
// and its test after theirs.
func itsOwnRule(t *testing.T, checkout, dir string) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(checkout, "docs/write-a-plugin.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(guide), "```python\n")
	if len(blocks) != 3 {
		t.Fatalf("the guide shows %d pieces of Python, not 2", len(blocks)-1)
	}
	rule, _, _ := strings.Cut(blocks[1], "```")
	test, _, _ := strings.Cut(blocks[2], "```")
	change := func(name string, change func(string) string) {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		changed := change(string(source))
		if changed == string(source) {
			t.Fatalf("%s has no place for what the guide shows", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change("plugin.py", func(source string) string {
		before, after, _ := strings.Cut(source, "def run_error(")
		head, body, _ := strings.Cut(after, "\n")
		return before + "def run_error(" + head + "\n" + rule + body
	})
	change("test_plugin.py", func(source string) string { return source + "\n\n" + test })
}

// unhurried gives the plugin the longest possible timeouts, since an interpreter may start slowly
// on a busy machine.
func unhurried(t *testing.T, config string) {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "- name: my-rules\n")
	if !ok {
		t.Fatalf("no plugin my-rules in\n%s", text)
	}
	if err := os.WriteFile(config, []byte(before+"- name: my-rules\n    deadline: 5s\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// madeOf is a digest of everything that a new plugin and its exam are made of.
func madeOf(t *testing.T, lang string) string {
	t.Helper()
	hash := sha256.New()
	sources := append([]string{"sdk/conformance", "proto", "internal/devtools/scaffold/common", "internal/devtools/scaffold/" + lang, "docs/write-a-plugin.md", "host/pin.go", "internal/plugininstall", "internal/pluginpublish"}, newPlugins[lang].sources...)
	for _, pattern := range []string{"cmd/mulligan/plugin_*.go", "internal/devtools/*.go"} {
		files, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil || files == nil {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			source, err := filepath.Rel(repository, name)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, source)
		}
	}
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(repository, source), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, ".pyc") {
				return err
			}
			content, err := os.ReadFile(name)
			fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}
