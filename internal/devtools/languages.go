package devtools

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/devtools/scaffold"
)

// language is what differs between plugins in different languages, besides their code.
type language struct {
	Title          string
	Needs          string // to be installed, for people
	Source, Tests  string // files
	command        string // of the plugin in its folder; NAME is its name
	ShippedCommand string // of the plugin elsewhere, in YAML
	Ship           string // how it gets there
	Ignored        []string
	Toolchain      []string // steps of the workflow
	sdk            []string // what its SDK is made of, in package mulligan
	reserved       []string // names that the language's own tools refuse
}

var languages = map[string]language{
	"go": {
		Title: "Go", Needs: "Go 1.26", Source: "main.go", Tests: "main_test.go", command: "bin/NAME",
		ShippedCommand: "/opt/plugins/NAME",
		Ship:           "`CGO_ENABLED=0 go build -trimpath -o bin/NAME .` makes one file that needs nothing else: copy that. With `GOOS=linux GOARCH=arm64` before it, it is for another computer.",
		Toolchain:      []string{},
		sdk:            []string{"go.mod", "go.sum", "failure", "hooks", "internal", "llm", "proto", "recovery", "sdk/go"},
		reserved:       []string{"all", "cmd", "internal", "main", "std", "testdata", "vendor"},
	},
	"python": {
		Title: "Python", Needs: "Python 3.11", Source: "plugin.py", Tests: "test_plugin.py", command: ".venv/bin/python plugin.py",
		ShippedCommand: "/opt/plugins/NAME/.venv/bin/python, /opt/plugins/NAME/plugin.py",
		Ship: "Copy `plugin.py` and `requirements.txt` to where Mulligan runs, and install there what it needs:\n\n" +
			"    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
		Ignored:   []string{"/.venv/", "__pycache__/", "/.pytest_cache/"},
		Toolchain: []string{"- uses: actions/setup-python@v6", "  with:", `    python-version: "3.13"`},
		sdk:       []string{"sdk/python"},
		reserved:  []string{"pytest", "python"},
	},
	"typescript": {
		Title: "TypeScript", Needs: "Node 20", Source: "src/rules.ts", Tests: "src/rules.test.ts", command: "node dist/main.js",
		ShippedCommand: "node, /opt/plugins/NAME/dist/main.js",
		Ship:           "Copy the folder after `npm run build` and `npm prune --omit=dev`: `dist`, `node_modules` and `package.json` are what it needs, beside `node`.",
		Ignored:        []string{"/node_modules/", "/dist/", "/.sdk/"},
		Toolchain:      []string{"- uses: actions/setup-node@v6", "  with:", "    node-version: 22"},
		sdk:            []string{"sdk/typescript"},
		reserved: []string{
			"assert", "buffer", "cluster", "console", "constants", "crypto", "dgram", "dns", "domain", "events", "fs", "http", "https", "module",
			"net", "os", "path", "process", "punycode", "querystring", "readline", "repl", "stream", "sys", "timers", "tls", "tty", "url",
			"util", "v8", "vm", "wasi", "zlib",
		},
	},
	"java": {
		Title: "Java", Needs: "a JDK 17, Maven", Source: "src/main/java/rules/Rules.java", Tests: "src/test/java/rules/RulesTest.java", command: "target/NAME/NAME",
		ShippedCommand: "/opt/plugins/NAME/NAME",
		Ship:           "`make build` makes the folder `target/NAME`, which needs nothing but `java` on the `PATH`: copy that.",
		Ignored:        []string{"/target/", "/.mulligan/sdk/java/target/"},
		Toolchain:      []string{"- uses: actions/setup-java@v5", "  with:", "    distribution: temurin", "    java-version: 17"},
		sdk:            []string{"sdk/java", "proto/mulligan/v1/decision.proto", "proto/mulligan/v1/failure.proto", "proto/mulligan/v1/plugin.proto", "proto/mulligan/v1/values.proto"},
		reserved: []string{
			"archive-tmp", "classes", "generated-sources", "generated-test-sources", "maven-archiver", "maven-status", "surefire-reports", "test-classes",
		},
	},
	"rust": {
		Title: "Rust", Needs: "Rust 1.85", Source: "src/main.rs", Tests: "src/main.rs", command: "bin/NAME",
		ShippedCommand: "/opt/plugins/NAME",
		Ship:           "`cargo build --release` makes one file that needs nothing else: copy `target/release/NAME`.",
		Ignored:        []string{"/target/"},
		Toolchain:      []string{"- run: rustup toolchain install stable --profile minimal && rustup default stable"},
		sdk:            []string{"sdk/rust"},
		reserved: []string{
			"abstract", "alloc", "as", "async", "await", "become", "box", "break", "build", "const", "continue", "core", "crate", "deps", "do",
			"dyn", "else", "enum", "examples", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "incremental", "let", "loop",
			"macro", "match", "mod", "move", "mut", "override", "priv", "proc-macro", "pub", "ref", "return", "self", "static", "std", "struct",
			"super", "test", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
		},
	},
}

// LanguageNames are the languages that have a scaffold, sorted.
func LanguageNames() []string { return slices.Sorted(maps.Keys(languages)) }

// pluginName is a name that every language's tools can take.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

const maxPluginName = 48

// checkName says why a plugin in this language cannot have that name.
func (l language) checkName(name string) error {
	switch {
	case !pluginName.MatchString(name) || len(name) > maxPluginName:
		return fmt.Errorf("%q is not a name for a plugin: small letters and digits, words joined by -, a letter first, %d in all at most", name, maxPluginName)
	case name == "mulligan" || name == "mulligan-plugin":
		return fmt.Errorf("a plugin cannot be called %q: that is what the SDK is called", name)
	case config.IsBuiltinName(name):
		return fmt.Errorf("a plugin cannot be called %q: that is a builtin plugin", name)
	case slices.Contains(l.reserved, name):
		return fmt.Errorf("a plugin in %s cannot be called %q: %[1]s keeps that name for itself", l.Title, name)
	}
	return nil
}

// Scaffold is a plugin that is about to be written. Templates may use its exported
// members, and the language's.
type Scaffold struct {
	Name string
	language
	sdk    sdk
	dir    string
	folder string // of the language's templates
}

// Checkout reports whether the SDK is taken from a checkout.
func (s *Scaffold) Checkout() bool { return s.sdk.checkout != "" }

// Carried reports whether the SDK comes from this program.
func (s *Scaffold) Carried() bool { return !s.Checkout() && s.sdk.release == "" }

// Beside reports whether the SDK is in the plugin's folder.
func (s *Scaffold) Beside() bool { return s.Checkout() || s.Carried() }

// Build is this program's version.
func (s *Scaffold) Build() string { return s.sdk.build }

// Version is the release of the SDK: "v1.2.3".
func (s *Scaffold) Version() string { return s.sdk.release }

// Number is the release as most registries spell it: "1.2.3".
func (s *Scaffold) Number() string { return strings.TrimPrefix(s.sdk.release, "v") }

// YAMLCommand is the plugin's command, as elements of a list.
func (s *Scaffold) YAMLCommand() string {
	return strings.Join(strings.Fields(s.named(s.command)), ", ")
}

func (s *Scaffold) named(text string) string { return strings.ReplaceAll(text, "NAME", s.Name) }

// scaffoldFile is a file of a new plugin; its path is relative to the plugin's folder.
type scaffoldFile struct {
	path    string
	content []byte
}

// files fills in the templates.
func (s *Scaffold) files() ([]scaffoldFile, error) {
	filled := *s
	filled.ShippedCommand, filled.Ship = s.named(s.ShippedCommand), s.named(s.Ship)
	var files []scaffoldFile
	for _, folder := range []string{"common", s.folder} {
		err := fs.WalkDir(scaffold.Templates, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := scaffold.Templates.ReadFile(name)
			if err != nil {
				return err
			}
			parsed, err := template.New(name).Delims("«", "»").Parse(string(text))
			if err != nil {
				return err
			}
			var content bytes.Buffer
			if err := parsed.Execute(&content, &filled); err != nil {
				return err
			}
			if len(bytes.TrimSpace(content.Bytes())) == 0 { // a file that this plugin does not need
				return nil
			}
			path := strings.TrimSuffix(strings.TrimPrefix(name, folder+"/"), ".tmpl")
			files = append(files, scaffoldFile{path, append(bytes.TrimSpace(content.Bytes()), '\n')})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the templates of this program: %w", err)
		}
	}
	return files, nil
}
