package main

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const repository = "../.."

// written gives the files of a new plugin.
func written(t *testing.T, lang string, from sdk) map[string]string {
	t.Helper()
	s := &newborn{Name: "my-rules", language: languages[lang], sdk: from, folder: lang}
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
		"go.mod": "go 1.26.0\n", "sdk/rust/Cargo.toml": `rust-version = "1.95"`,
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
		at, named, build, self string
		want                   string // the release or the checkout; "" = refused
	}{
		"a release":                  {outside, "", "v1.2.3", "", "v1.2.3"},
		"a candidate":                {outside, "", "v1.3.0-rc.1", "", "v1.3.0-rc.1"},
		"a release and a checkout":   {outside, checkout, "v1.2.3", "", checkout},
		"a commit inside":            {inside, "", "v0.0.0-20261121171500-7da4ad4a1b2c+dirty", "", checkout},
		"a commit outside":           {outside, "", "v0.0.0-20261121171500-7da4ad4a1b2c", "", ""},
		"a build without a commit":   {outside, "", "devel", "", ""},
		"a folder of the checkout":   {outside, inside, "devel", "", checkout},
		"another folder":             {inside, outside, "devel", "", ""},
		"a folder that is not there": {inside, filepath.Join(outside, "x"), "devel", "", ""},
		"a program in a checkout":    {outside, "", "devel", filepath.Join(checkout, "mulligan"), checkout},
		"a program elsewhere":        {outside, "", "devel", filepath.Join(outside, "mulligan"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(c.at)
			got, err := findSDK(c.named, c.build, c.self)
			if (err != nil) != (c.want == "") || orElse(got.release, got.checkout) != c.want {
				t.Errorf("%+v, %v", got, err)
			}
			if err != nil && c.named == "" && !strings.Contains(err.Error(), "--sdk DIR") {
				t.Errorf("it does not say what to do: %v", err)
			}
		})
	}
}
