package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// published are the packages that registries get, by folder.
var published = []string{
	"sdk/java", "sdk/python", "sdk/python/client", "sdk/python/failure", "sdk/python/recovery", "sdk/rust", "sdk/typescript/client", "sdk/typescript/failure", "sdk/typescript/plugin", "sdk/typescript/recovery",
}

// TestPublishedPackages have a licence and a README that can be read where it is shown: a link
// that is relative leads nowhere there.
func TestPublishedPackages(t *testing.T) {
	licence := read(t, "../LICENSE")
	relative := regexp.MustCompile(`\]\(([^)#h][^)]*|h(?:[^t)][^)]*)?)\)`)
	ours := regexp.MustCompile(`https://github\.com/mulligan-run/mulligan/(?:blob|tree)/main/([^)#\s]+)`)
	for _, folder := range published {
		if read(t, filepath.Join("..", folder, "LICENSE")) != licence {
			t.Errorf("%s has another licence than the repository", folder)
		}
		text := read(t, filepath.Join("..", folder, "README.md"))
		for _, link := range relative.FindAllStringSubmatch(text, -1) {
			t.Errorf("the README of %s links to %s, which is nowhere on a registry's page", folder, link[1])
		}
		for _, link := range ours.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", link[1])); err != nil {
				t.Errorf("the README of %s: %v", folder, err)
			}
		}
	}
}

// TestNpmTypes: every way in has its types beside it, also for who does not read exports.
func TestNpmTypes(t *testing.T) {
	for _, folder := range published[6:] {
		var pkg struct {
			Main, Types, License string
			Repository           struct{ Directory string }
			Exports              map[string]struct{ Types, Default string }
		}
		if err := json.Unmarshal([]byte(read(t, filepath.Join("..", folder, "package.json"))), &pkg); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		top := pkg.Exports["."]
		if pkg.License != "Apache-2.0" || pkg.Repository.Directory != folder || pkg.Main != top.Default || pkg.Types != top.Types {
			t.Errorf("%s: %+v", folder, pkg)
		}
		for way, e := range pkg.Exports {
			if e.Types == "" || strings.TrimSuffix(e.Types, ".d.ts") != strings.TrimSuffix(e.Default, ".js") {
				t.Errorf("%s: %s has the types %q of %q", folder, way, e.Types, e.Default)
			}
		}
	}
}

// run runs a program in a folder.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sources copies what git has of a folder, so that nothing that lies about is packed and nobody
// else's build is disturbed.
func sources(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `git ls-files -z --cached --others --exclude-standard . | xargs -0 tar -cf - | tar -xf - -C "$0"`, dir)
	cmd.Dir = filepath.Join("..", folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// npmUse is a program that uses a package, and what it prints.
var npmUse = map[string]struct{ program, prints string }{
	"client":  {`import { Client } from '@mulligan-run/client'; console.log(typeof Client)`, "function"},
	"failure": {`import { classify } from '@mulligan-run/failure'; console.log(classify({ status: 429 }).kind)`, "rate_limit"},
	"plugin":  {`import { retry } from '@mulligan-run/plugin'; console.log(retry({ after: 1 }).action)`, "retry"},
	"recovery": {`import { Advisor } from '@mulligan-run/recovery'; import plugin from '@mulligan-run/recovery/openclaw';
		console.log(new Advisor().timeout, plugin.id)`, "250 mulligan-recovery"},
}

// TestNpmPackages are packed, installed in an empty folder, and used there, by JavaScript and with
// their types.
func TestNpmPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("asks npm's registry")
	}
	needs.Programs(t, "packages of npm", "node", "npm")
	for name, use := range npmUse {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, clean := sources(t, "sdk/typescript/"+name), t.TempDir()
			run(t, from, "npm", "ci", "--ignore-scripts", "--silent", "--no-audit", "--no-fund")
			run(t, from, "npm", "pack", "--silent", "--pack-destination", clean)
			packed, err := filepath.Glob(filepath.Join(clean, "*.tgz"))
			if err != nil || len(packed) != 1 {
				t.Fatalf("%q, %v", packed, err)
			}
			if files := run(t, clean, "tar", "-tzf", packed[0]); !strings.Contains(files, "package/LICENSE") || !strings.Contains(files, "package/README.md") || strings.Contains(files, ".test.") {
				t.Errorf("it has\n%s", files)
			}
			write(t, clean, "package.json", `{"private": true, "type": "module"}`)
			run(t, clean, "npm", "install", "--ignore-scripts", "--silent", "--no-audit", "--no-fund", packed[0])
			write(t, clean, "use.ts", use.program)
			for _, mode := range [][2]string{{"nodenext", "nodenext"}, {"esnext", "bundler"}} {
				run(t, clean, filepath.Join(from, "node_modules", ".bin", "tsc"), "--strict", "--lib", "es2023,dom,dom.iterable",
					"--types", "", "--skipLibCheck", "--module", mode[0], "--moduleResolution", mode[1], "--target", "es2022", "use.ts")
			}
			if got := run(t, clean, "node", "use.js"); got != use.prints {
				t.Errorf("it printed %q", got)
			}
		})
	}
}

// TestPythonPackages are built as wheels, installed into an empty environment, and used there.
func TestPythonPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("asks PyPI")
	}
	needs.Programs(t, "packages of PyPI", "python3")
	for folder, use := range map[string]struct{ module, program, prints string }{
		"sdk/python":          {"mulligan", `from mulligan import Retry; print(type(Retry(after=1)).__name__)`, "Retry"},
		"sdk/python/client":   {"mulligan_client", `from mulligan_client import Client; print(Client.__name__)`, "Client"},
		"sdk/python/recovery": {"mulligan_recovery", `import mulligan_recovery; print(mulligan_recovery.__name__)`, "mulligan_recovery"},
		"sdk/python/failure":  {"mulligan_failure", `from mulligan_failure import Evidence, classify; print(classify(Evidence(status=429)).kind)`, "rate_limit"},
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			from, clean := sources(t, folder), t.TempDir()
			run(t, clean, "python3", "-m", "venv", "env")
			python := filepath.Join(clean, "env", "bin", "python")
			run(t, clean, python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", clean, from)
			wheels, err := filepath.Glob(filepath.Join(clean, "*.whl"))
			if err != nil || len(wheels) != 1 {
				t.Fatalf("%q, %v", wheels, err)
			}
			files := run(t, clean, python, "-m", "zipfile", "-l", wheels[0])
			for _, want := range []string{use.module + "/py.typed", "licenses/LICENSE"} {
				if !strings.Contains(files, want) {
					t.Errorf("the wheel has no %s:\n%s", want, files)
				}
			}
			run(t, clean, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheels[0])
			if got := run(t, clean, python, "-c", use.program); got != use.prints {
				t.Errorf("it printed %q", got)
			}
		})
	}
}

// TestCrate is packed, built out of what was packed, and used out of that by a crate of its own.
func TestCrate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a crate")
	}
	needs.Programs(t, "a crate", "cargo")
	from := sources(t, "sdk/rust")
	target, err := filepath.Abs("../.cache/rust")
	if err != nil {
		t.Fatal(err)
	}
	run(t, from, "cargo", "package", "--quiet", "--allow-dirty", "--target-dir", target)
	files := run(t, from, "cargo", "package", "--quiet", "--allow-dirty", "--list")
	for _, want := range []string{"LICENSE", "README.md", "src/lib.rs"} {
		if !strings.Contains("\n"+files+"\n", "\n"+want+"\n") {
			t.Errorf("the crate has no %s:\n%s", want, files)
		}
	}
	clean := t.TempDir()
	run(t, clean, "tar", "-xzf", filepath.Join(target, "package", "mulligan-plugin-0.1.0.crate"))
	write(t, clean, "Cargo.toml", "[package]\nname = \"use-it\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\nmulligan-plugin = { path = \"mulligan-plugin-0.1.0\" }\n[workspace]\n[[bin]]\nname = \"use-it\"\npath = \"use.rs\"\n")
	write(t, clean, "use.rs", `fn main() { println!("{}", mulligan::testing::event(mulligan::Kind::RateLimit).failure.kind) }`)
	if got := run(t, clean, "cargo", "run", "--quiet", "--target-dir", target); got != "rate_limit" {
		t.Errorf("it printed %q", got)
	}
}

// TestMavenPackage is built with all that its registry takes, put into a repository, and used out of
// that by a program that has nothing else.
func TestMavenPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("asks Maven's registry")
	}
	needs.Programs(t, "a package of Maven", "java", "javac", "mvn")
	from, clean := sources(t, "sdk/java"), t.TempDir()
	protocol, err := filepath.Abs("../proto")
	if err != nil {
		t.Fatal(err)
	}
	repository := "file://" + filepath.Join(clean, "repository")
	run(t, from, "mvn", "--quiet", "--batch-mode", "-Prelease", "-DskipTests", "-Dgpg.skip", "-Dprotocol="+protocol, "-DaltDeploymentRepository=built::"+repository, "deploy")
	built := filepath.Join(clean, "repository", "run", "mulligan", "mulligan-plugin", "0.1.0", "mulligan-plugin-0.1.0")
	for suffix, want := range map[string]string{
		".jar": "META-INF/LICENSE", "-sources.jar": "run/mulligan/plugin/Values.java", "-javadoc.jar": "run/mulligan/plugin/Values.html",
	} {
		if files := run(t, clean, "jar", "tf", built+suffix); !strings.Contains(files, want) || strings.Contains(files, "Test.class") {
			t.Errorf("%s has no %s:\n%s", suffix, want, files)
		}
	}
	about := read(t, built+".pom")
	for _, want := range []string{"name", "description", "url", "licenses", "developers", "scm"} {
		if !strings.Contains(about, "\n  <"+want+">") {
			t.Errorf("its registry wants <%s>", want)
		}
	}
	write(t, clean, "pom.xml", `<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>use</artifactId><version>1</version>
		<repositories><repository><id>built</id><url>`+repository+`</url></repository></repositories>
		<dependencies><dependency><groupId>run.mulligan</groupId><artifactId>mulligan-plugin</artifactId><version>0.1.0</version></dependency></dependencies></project>`)
	run(t, clean, "mvn", "--quiet", "--batch-mode", "-Dmaven.repo.local="+filepath.Join(clean, "m2"),
		"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib")
	write(t, clean, "Use.java", `import run.mulligan.plugin.*;
		class Use { public static void main(String[] arguments) { System.out.println(Testing.event(Kind.RATE_LIMIT).build().kind()); } }`)
	run(t, clean, "javac", "-cp", "lib/*", "Use.java")
	if got := run(t, clean, "java", "-cp", ".:lib/*", "Use"); got != "RATE_LIMIT" {
		t.Errorf("it printed %q", got)
	}
}
