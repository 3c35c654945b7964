package pluginpublish

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
)

// whole is a complete plugin in each language.
var whole = map[string]map[string]string{
	"Python": {
		"pyproject.toml": "[build-system]\nrequires = []\n[project]\nname = \"my-rules\"\nversion = \"1.0.0\"\ndescription = \"d\"\nreadme = \"README.md\"\nlicense = \"MIT\"\n" +
			"requires-python = \">=3.11\"\n[project.scripts]\nmy-rules = \"my_rules:main\"\n",
		"src/my_rules/__init__.py": "", "src/my_rules/" + trust.ManifestName: "env: [TOKEN]\n",
	},
	"TypeScript": {
		"package.json": `{"name": "@me/my-rules", "version": "1.0.0", "description": "d", "license": "MIT", "bin": {"my-rules": "dist/main.js", "b": "b.js"},
			"files": ["dist/", "mulligan-plugin.yaml"], "dependencies": {"@mulligan-run/plugin": "0.1.0"}}`,
		"dist/main.js": "",
	},
	"Go":   {"go.mod": "module github.com/me/my-rules\n\ngo 1.26\n", "go.sum": "", "main.go": "// Command my-rules.\npackage main\n"},
	"Rust": {"Cargo.toml": "[package]\nname = \"my-rules\"\nversion = \"1.0.0\"\ndescription = \"d\"\nlicense = \"MIT\"\n[dependencies]\na = \"1\"\nb = { path = \"../b\", version = \"1\" }\n", "Cargo.lock": "", "src/main.rs": ""},
	"Java": {"pom.xml": "<project><groupId>org.mine</groupId><version>1.0.0</version><licenses><license><name>MIT</name></license></licenses></project>"},
}

const wholeManifest = "name: my-rules\nversion: 1.0.0\ndescription: Waits.\ncommand: [bin/my-rules]\nenv: [TOKEN]\n"

// check writes a complete plugin, changes it, and returns what is missing.
func check(t *testing.T, language string, change func(files map[string]string)) (lacks string, r *Report) {
	t.Helper()
	files := maps.Clone(whole[language])
	files[trust.ManifestName], files["LICENSE"], files["Readme.md"] = wholeManifest, "MIT", "# my-rules"
	change(files)
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Check(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Lack != "" {
			lacks += f.What + ": " + f.Lack + "\n"
		}
	}
	return lacks, r
}

func TestNothingIsMissing(t *testing.T) {
	for language := range whole {
		lacks, r := check(t, language, func(map[string]string) {})
		if lacks != "" || r.Lacks() != 0 || r.Language != language || len(r.Publish) == 0 || strings.Contains(strings.Join(r.Publish, " "), "VERSION") {
			t.Errorf("%s: %+v\n%s", language, r, lacks)
		}
	}
}

// TestAnyProgram: a plugin in a language without a known registry is published as an archive.
func TestAnyProgram(t *testing.T) {
	lacks, r := check(t, "Go", func(files map[string]string) { delete(files, "go.mod") })
	if lacks != "" || r.Language != "" || len(r.Publish) != 1 || !strings.HasPrefix(r.Publish[0], "tar czf my-rules-1.0.0.tar.gz ") {
		t.Errorf("%+v\n%s", r, lacks)
	}
}

// TestWhatIsMissing removes one thing at a time.
func TestWhatIsMissing(t *testing.T) {
	type change struct{ language, file, old, text, want string }
	gone := "gone"
	for _, c := range []change{
		{"Go", trust.ManifestName, gone, "", trust.ManifestName + ": it is not there"},
		{"Go", trust.ManifestName, "name: my-rules", "", "a name: "},
		{"Go", trust.ManifestName, "version: 1.0.0", "", "a version: "},
		{"Go", trust.ManifestName, "description: Waits.", "", "a description: "},
		{"Go", trust.ManifestName, "command: [bin/my-rules]", "", "a command: "},
		{"Go", trust.ManifestName, "env: [TOKEN]", "occasions: [tea]", "occasions: there is no occasion \"tea\""},
		{"Go", trust.ManifestName, "env: [TOKEN]", "envs: [TOKEN]", trust.ManifestName + ": "},
		{"Go", "LICENSE", gone, "", "a licence: "},
		{"Go", "Readme.md", "# my-rules", " \n", "a README: "},
		{"Go", "go.mod", "github.com/me/my-rules", "example.com/my-rules", "a module that can be fetched: "},
		{"Go", "go.mod", "go 1.26", "go 1.26\n\nreplace a => ./a", "no replace: "},
		{"Go", "go.sum", gone, "", "go.sum: "},
		{"Go", "main.go", "package main", "package rules", "a program: "},
		{"Python", "pyproject.toml", "[build-system]\nrequires = []", "", "[build-system]: "},
		{"Python", "pyproject.toml", "license = \"MIT\"", "", "project.license: "},
		{"Python", "pyproject.toml", "license = \"MIT\"", "license = \"MIT\"\nclassifiers = [\"Private :: Do Not Upload\"]", "it is public: "},
		{"Python", "pyproject.toml", "version = \"1.0.0\"", "version = \"1.0.1\"", "one version: pyproject.toml says \"1.0.1\""},
		{"Python", "pyproject.toml", "my-rules = \"my_rules:main\"", "", "a script that starts it: "},
		{"Python", "pyproject.toml", "my-rules = \"my_rules:main\"", "a = \"b:c\"\nd = \"e:f\"", "a script that starts it: "},
		{"Python", "pyproject.toml", "[project]", "[project", "pyproject.toml: it cannot be read: "},
		{"Python", "src/my_rules/" + trust.ManifestName, gone, "", "the manifest in the package: "},
		{"TypeScript", "package.json", `"license": "MIT"`, `"private": true`, "it is public: "},
		{"TypeScript", "package.json", `"license": "MIT", `, "", "license in package.json: "},
		{"TypeScript", "package.json", `"version": "1.0.0"`, `"version": "2.0.0"`, "one version: "},
		{"TypeScript", "package.json", `"bin": {"my-rules": "dist/main.js", "b": "b.js"},`, "", "a program: bin in package.json"},
		{"TypeScript", "dist/main.js", gone, "", "a program: dist/main.js is not there"},
		{"TypeScript", "package.json", `"dist/", `, "", "its files: "},
		{"TypeScript", "package.json", `, "mulligan-plugin.yaml"`, "", "the manifest in the package: "},
		{"TypeScript", "package.json", `"0.1.0"`, `"file:../sdk"`, "dependency @mulligan-run/plugin: "},
		{"TypeScript", "package.json", `{`, ``, "package.json: it cannot be read: "},
		{"Rust", "Cargo.toml", "license = \"MIT\"", "publish = false", "it is public: "},
		{"Rust", "Cargo.toml", "license = \"MIT\"", "", "license in Cargo.toml: "},
		{"Rust", "Cargo.toml", "license = \"MIT\"", "license-file = \"LICENSE\"\ninclude = [\"src\"]", "the manifest in the package: "},
		{"Rust", "Cargo.toml", "a = \"1\"", "a = { path = \"../a\" }", "dependency a: "},
		{"Rust", "Cargo.lock", gone, "", "Cargo.lock: "},
		{"Rust", "src/main.rs", gone, "", "a program: "},
		{"Java", "pom.xml", "org.mine", "com.example.mine", "groupId in pom.xml: "},
		{"Java", "pom.xml", "<licenses><license><name>MIT</name></license></licenses>", "", "licenses in pom.xml: "},
		{"Java", "pom.xml", "1.0.0", "1.0.0-SNAPSHOT", "one version: "},
	} {
		lacks, r := check(t, c.language, func(files map[string]string) {
			before, there := files[c.file]
			if !there || c.old != gone && !strings.Contains(before, c.old) {
				t.Fatalf("%s: %s has no %q", c.language, c.file, c.old)
			}
			if files[c.file] = strings.Replace(before, c.old, c.text, 1); c.old == gone {
				delete(files, c.file)
			}
		})
		if !strings.HasPrefix(lacks, c.want) && !strings.Contains(lacks, "\n"+c.want) || r.Lacks() == 0 {
			t.Errorf("%s, %s without %q: %q is not in\n%s", c.language, c.file, c.old, c.want, lacks)
		}
	}
}

// TestNothingOutsideIsRead: a path that leads out of the folder counts as missing.
func TestNothingOutsideIsRead(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "in")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LICENSE", "README.md", "go.mod", trust.ManifestName} {
		if err := os.WriteFile(filepath.Join(above, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..", name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Check(folder)
	if err != nil || r.Language != "" || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Lack == "" }) {
		t.Errorf("%+v, %v", r, err)
	}
}
