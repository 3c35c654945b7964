package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/faultlab"
)

const repository = "../.."

// newPlugins are the languages of new plugins: what a plugin of each needs on the PATH,
// and what it is made of beside its templates.
var newPlugins = map[string]struct{ needs, sources []string }{
	"go":         {[]string{"go"}, []string{"sdk/go/plugin", "internal/wire", "recovery", "go.mod"}},
	"python":     {[]string{"python3"}, []string{"sdk/python/src", "sdk/python/pyproject.toml"}},
	"typescript": {[]string{"node", "npm"}, []string{"sdk/typescript/plugin/src", "sdk/typescript/plugin/package-lock.json"}},
	"rust":       {[]string{"cargo"}, []string{"sdk/rust/src", "sdk/rust/Cargo.toml"}},
}

// A new plugin passes its own "make test" as it was written, and then decides about the
// demo's failures. That takes minutes, so a pass is remembered for as long as nothing
// that the plugin is made of changes.
func TestNewPluginsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("installs and compiles")
	}
	for _, lang := range languageNames() {
		t.Run(lang, func(t *testing.T) {
			for _, tool := range append([]string{"make"}, newPlugins[lang].needs...) {
				if _, err := exec.LookPath(tool); err != nil {
					if os.Getenv("CI") == "true" {
						t.Fatalf("%s: no %s", lang, tool)
					}
					t.Skipf("NOT TESTED: a new plugin in %s needs %s", lang, tool)
				}
			}
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

// makesTest writes a plugin with this program and uses it as its README says.
func makesTest(t *testing.T, lang, cache string) {
	checkout, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my-rules")
	command(t, ".", "mulligan", "plugin", "new", "my-rules", "--lang", lang, "--dir", dir, "--sdk", checkout)
	t.Setenv("CARGO_TARGET_DIR", filepath.Join(cache, "rust")) // of everything that is made, only this takes long and is the same every time
	said := command(t, dir, "make", "test", "MULLIGAN=mulligan")
	if !strings.Contains(said, "my-rules 0.1.0: 5") || strings.Contains(said, "✗") {
		t.Errorf("make test said\n%s", said)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	command(t, dir, "mulligan", "run", faultlab.DemoPrompt)
	runs := command(t, dir, "mulligan", "runs", "list", "--json", "--limit", "1")
	var run struct{ Run string }
	if err := json.Unmarshal([]byte(runs), &run); err != nil {
		t.Fatalf("%v: %s", err, runs)
	}
	story := command(t, dir, "mulligan", "runs", "show", run.Run)
	for _, want := range []string{"retry in 1 s, by my-rules", "retry in 2 s, by my-rules", "switch to atlas/atlas-1 in 250 ms, by my-rules"} {
		if !strings.Contains(story, want) {
			t.Errorf("%q is not in\n%s", want, story)
		}
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

// madeOf is a digest of what a new plugin and its exam are made of.
func madeOf(t *testing.T, lang string) string {
	t.Helper()
	hash := sha256.New()
	sources := append([]string{"sdk/conformance", "proto", "cmd/mulligan/scaffold/common", "cmd/mulligan/scaffold/" + lang}, newPlugins[lang].sources...)
	conform, err := filepath.Glob("plugin_[nc]*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range conform {
		sources = append(sources, "cmd/mulligan/"+name)
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

// written gives the files of a new plugin.
func written(t *testing.T, lang string, from sdk) map[string]string {
	t.Helper()
	s := &scaffold{Name: "my-rules", language: languages[lang], sdk: from, folder: lang}
	list, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range list {
		files[f.path] = string(f.content)
	}
	return files
}

var released, fromCheckout = sdk{build: "v1.2.3", release: "v1.2.3"}, sdk{build: "devel", checkout: "/src/mulligan"}

func TestNewPluginFiles(t *testing.T) {
	for _, lang := range languageNames() {
		for origin, from := range map[string]sdk{"released": released, "checkout": fromCheckout} {
			t.Run(lang+"/"+origin, func(t *testing.T) {
				files := written(t, lang, from)
				for _, name := range []string{"README.md", "Makefile", ".gitignore", "mulligan.yaml", ".github/workflows/test.yml"} {
					if files[name] == "" {
						t.Errorf("there is no %s", name)
					}
				}
				for name, text := range files {
					for _, never := range []string{"«", "»", "NAME", "<no value>", "/src/mulligan", "\t\n", " \n"} {
						if strings.Contains(text, never) {
							t.Errorf("%s has %q:\n%s", name, never, text)
						}
					}
					if checkout := strings.Contains(text, sdkLink); checkout && origin == "released" {
						t.Errorf("%s of a release needs a checkout", name)
					}
					if strings.HasSuffix(name, ".go") {
						if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
							t.Errorf("%s is not formatted: %v", name, err)
						}
					}
				}
				config, err := parseConfig([]byte(files["mulligan.yaml"]))
				if err != nil || config.Plugins[0].Name != "my-rules" || len(config.Plugins[0].Command) == 0 {
					t.Errorf("mulligan.yaml: %v %+v", err, config)
				}
				checkWorkflow(t, files[".github/workflows/test.yml"])
			})
		}
	}
}

// checkWorkflow sees that a workflow ends with the command that the README tells people.
func checkWorkflow(t *testing.T, text string) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	steps := workflow.Jobs["test"].Steps
	if len(steps) < 4 || steps[0].Uses != "actions/checkout@v5" || steps[len(steps)-1].Run != "make test MULLIGAN=bin/mulligan" {
		t.Errorf("%+v\n%s", steps, text)
	}
	builds := slices.ContainsFunc(steps, func(s struct{ Uses, Run string }) bool {
		return strings.Contains(s.Run, "bin/mulligan ./cmd/mulligan") || strings.Contains(s.Run, "go install")
	})
	if !builds {
		t.Errorf("nothing makes bin/mulligan:\n%s", text)
	}
}

// A release takes the SDK of its own version, whichever registry it is in.
func TestNewPluginVersions(t *testing.T) {
	for lang, want := range map[string][2]string{
		"go":         {"go.mod", "require github.com/mulligan-run/mulligan v1.2.3"},
		"python":     {"requirements.txt", "mulligan-plugin==1.2.3\n"},
		"typescript": {"package.json", `"@mulligan-run/plugin": "1.2.3"`},
		"rust":       {"Cargo.toml", `mulligan-plugin = "1.2.3"`},
	} {
		if text := written(t, lang, released)[want[0]]; !strings.Contains(text, want[1]) {
			t.Errorf("%s: %s is\n%s", lang, want[0], text)
		}
	}
	// What the templates say twice is what the repository says.
	for name, want := range map[string]string{
		"go.mod": "go 1.26.8\n", "sdk/rust/Cargo.toml": `rust-version = "1.95"`,
		"sdk/python/pyproject.toml":          `requires-python = ">=3.11"`,
		"sdk/typescript/plugin/package.json": `"typescript": "7.0.2"`,
	} {
		source, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil || !strings.Contains(string(source), want) {
			t.Errorf("%s has no longer %q: follow it in the scaffold (%v)", name, want, err)
		}
	}
}

func TestNewPluginNames(t *testing.T) {
	for name, refusedBy := range map[string][]string{
		"my-rules": {}, "a": {}, "r2-d2": {},
		"fn": {"rust"}, "test": {"rust"}, "fs": {"typescript"}, "main": {"go"}, "pytest": {"python"},
		"": languageNames(), "My-Rules": languageNames(), "my_rules": languageNames(), "-x": languageNames(), "x-": languageNames(), "a--b": languageNames(),
		"2fast": languageNames(), "../up": languageNames(), "a b": languageNames(), "rülps": languageNames(), strings.Repeat("x", 49): languageNames(),
		"mulligan": languageNames(), "auto-recover": languageNames(), "rules": languageNames(),
	} {
		for lang, l := range languages {
			if err := l.checkName(name); (err != nil) != slices.Contains(refusedBy, lang) {
				t.Errorf("%q in %s: %v", name, lang, err)
			}
		}
	}
	if !maps.EqualFunc(languages, newPlugins, func(language, struct{ needs, sources []string }) bool { return true }) {
		t.Error("a language is not tested")
	}
}

func TestFindSDK(t *testing.T) {
	checkout := t.TempDir()
	if err := os.WriteFile(filepath.Join(checkout, "go.mod"), []byte("module github.com/mulligan-run/mulligan\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(checkout, "plugins", "mine")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	for name, c := range map[string]struct {
		at, named, build string
		want             string // the release or the checkout; "" = refused
	}{
		"a release":                  {outside, "", "v1.2.3", "v1.2.3"},
		"a candidate":                {outside, "", "v1.3.0-rc.1", "v1.3.0-rc.1"},
		"a release and a checkout":   {outside, checkout, "v1.2.3", checkout},
		"a commit inside":            {inside, "", "v0.0.0-20261121171500-7da4ad4a1b2c+dirty", checkout},
		"a commit outside":           {outside, "", "v0.0.0-20261121171500-7da4ad4a1b2c", ""},
		"a build without a commit":   {outside, "", "devel", ""},
		"a folder of the checkout":   {outside, inside, "devel", checkout},
		"another folder":             {inside, outside, "devel", ""},
		"a folder that is not there": {inside, filepath.Join(outside, "x"), "devel", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(c.at)
			got, err := findSDK(c.named, c.build)
			if (err != nil) != (c.want == "") || orElse(got.release, got.checkout) != c.want {
				t.Errorf("%+v, %v", got, err)
			}
			if err != nil && c.named == "" && !strings.Contains(err.Error(), "--sdk DIR") {
				t.Errorf("it does not say what to do: %v", err)
			}
		})
	}
}
