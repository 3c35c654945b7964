package devtools

import (
	"cmp"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/config"
)

const repository = "../.."

// written returns the files of a new plugin.
func written(t *testing.T, lang string, from sdk) map[string]string {
	t.Helper()
	s := &Scaffold{Name: "my-rules", language: languages[lang], sdk: from, folder: lang}
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

var origins = map[string]sdk{
	"released": {build: "v1.2.3", release: "v1.2.3"}, "checkout": {build: "devel", checkout: "/src/mulligan"}, "carried": {build: "devel"},
}

func TestNewPluginFiles(t *testing.T) {
	for _, lang := range LanguageNames() {
		for origin, from := range origins {
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
					if beside := strings.Contains(text, sdkFolder+"/"); beside && origin == "released" && name != ".gitignore" {
						t.Errorf("%s of a release needs an SDK beside it", name)
					}
					if strings.HasSuffix(name, ".go") {
						if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
							t.Errorf("%s is not formatted: %v", name, err)
						}
					}
				}
				config, err := config.Parse([]byte(files["mulligan.yaml"]))
				if err != nil || config.Plugins[0].Name != "my-rules" || len(config.Plugins[0].Command) == 0 {
					t.Errorf("mulligan.yaml: %v %+v", err, config)
				}
				checkWorkflow(t, files[".github/workflows/test.yml"])
			})
		}
	}
}

// checkWorkflow checks that a workflow ends with the command in the README.
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

// A release uses the SDK of its own version, whichever registry it is in.
func TestNewPluginVersions(t *testing.T) {
	for lang, want := range map[string][2]string{
		"go":         {"go.mod", "require github.com/mulligan-run/mulligan v1.2.3"},
		"python":     {"requirements.txt", "mulligan-plugin==1.2.3\n"},
		"typescript": {"package.json", `"@mulligan-run/plugin": "1.2.3"`},
		"rust":       {"Cargo.toml", `mulligan-plugin = "1.2.3"`},
		"java":       {"pom.xml", "<artifactId>mulligan-plugin</artifactId>\n      <version>1.2.3</version>"},
	} {
		if text := written(t, lang, origins["released"])[want[0]]; !strings.Contains(text, want[1]) {
			t.Errorf("%s: %s is\n%s", lang, want[0], text)
		}
	}
	// What the templates repeat must agree with the repository.
	for name, want := range map[string]string{
		"go.mod": "go 1.26.0\n", "sdk/rust/Cargo.toml": `rust-version = "1.85"`,
		"sdk/python/pyproject.toml":          `requires-python = ">=3.11"`,
		"sdk/typescript/plugin/package.json": `"typescript": "7.0.2"`,
		"sdk/java/pom.xml":                   "<artifactId>mulligan-plugin</artifactId>\n  <version>0.1.0</version>",
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
		"fn": {"rust"}, "test": {"rust"}, "fs": {"typescript"}, "main": {"go"}, "pytest": {"python"}, "classes": {"java"},
		"": LanguageNames(), "My-Rules": LanguageNames(), "my_rules": LanguageNames(), "-x": LanguageNames(), "x-": LanguageNames(), "a--b": LanguageNames(),
		"2fast": LanguageNames(), "../up": LanguageNames(), "a b": LanguageNames(), "rülps": LanguageNames(), strings.Repeat("x", 49): LanguageNames(),
		"mulligan": LanguageNames(), "auto-recover": LanguageNames(), "rules": LanguageNames(),
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
		named, build string
		want         string // the release, the checkout, or "carried"; "" = refused
	}{
		"a release":                  {"", "v1.2.3", "v1.2.3"},
		"a candidate":                {"", "v1.3.0-rc.1", "v1.3.0-rc.1"},
		"a release and a checkout":   {checkout, "v1.2.3", checkout},
		"a commit":                   {"", "v0.0.0-20261121171500-7da4ad4a1b2c+dirty", "carried"},
		"a build without a commit":   {"", "devel", "carried"},
		"a folder of the checkout":   {inside, "devel", checkout},
		"another folder":             {outside, "devel", ""},
		"a folder that is not there": {filepath.Join(outside, "x"), "devel", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findSDK(c.named, c.build)
			if is := cmp.Or(cmp.Or(got.release, got.checkout), "carried"); (err != nil) != (c.want == "") || err == nil && is != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestSDKsAreCarriedWhole: the program contains every package of the Go SDK, and every file of the
// other languages' SDKs in the repository.
func TestSDKsAreCarriedWhole(t *testing.T) {
	const module = "github.com/mulligan-run/mulligan/"
	have := map[string]bool{}
	for _, l := range languages {
		files, err := l.carried()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			have[strings.TrimPrefix(f.path, sdkFolder+"/")] = true
			if strings.HasSuffix(f.path, "_test.go") || strings.Contains(f.path, "__pycache__") {
				t.Errorf("%s is carried", f.path)
			}
		}
	}
	form := "{{if not .Standard}}{{$p := .ImportPath}}{{range .GoFiles}}{{$p}}/{{.}}\n{{end}}{{range .EmbedFiles}}{{$p}}/{{.}}\n{{end}}{{end}}"
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", form, "./sdk/go/plugin")
	cmd.Dir = repository
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if name, ours := strings.CutPrefix(strings.TrimSpace(line), module); ours && !have[name] {
			t.Errorf("%s is not carried: embed it in package mulligan", name)
		}
	}
	for _, folder := range []string{"sdk/java/src/main", "sdk/python/src", "sdk/rust/src", "sdk/typescript/plugin/src"} {
		err := filepath.WalkDir(filepath.Join(repository, folder), func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Name() == "__pycache__" {
				return fs.SkipDir
			}
			if relative, _ := filepath.Rel(repository, name); err == nil && !entry.IsDir() && !have[filepath.ToSlash(relative)] {
				t.Errorf("%s is not carried: embed it in package mulligan", relative)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
