package languages

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/sdk/conformance/plugins"
)

// language is how its faulty plugin is made. What is installed and compiled is kept
// where the tests of sdk/conformance keep it.
type language struct {
	name    string
	needs   []string // on the PATH
	sources []string // that the plugin is made of, from the top of the repository
	build   func(ctx context.Context, p plugins.Place) (host.Spec, error)
}

const (
	sdk    = "sdk/"
	faulty = "host/testdata/faulty/"
)

var languages = []language{
	{"python", []string{"python3"}, []string{sdk + "python/src", sdk + "python/requirements.lock", faulty + "python"}, python},
	{"typescript", []string{"node", "npm"}, []string{sdk + "typescript/plugin/src", sdk + "typescript/plugin/package-lock.json", faulty + "typescript"}, typescript},
	{"java", []string{"java", "javac", "mvn"}, []string{sdk + "java/src/main", sdk + "java/pom.xml", "proto", faulty + "java"}, java},
	{"rust", []string{"cargo"}, []string{sdk + "rust/src", sdk + "rust/Cargo.toml", faulty + "rust/src"}, rust},
}

// make is a spec with the command and the environment. Without its toolchain the test
// is skipped, loudly, and fails in the continuous integration.
func (l language) make(t *testing.T) host.Spec {
	t.Helper()
	needs.Programs(t, "a plugin in "+l.name, l.needs...)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p := plugins.Place{Root: root}
	if err := p.Look(l.sources); err != nil {
		t.Fatal(err)
	}
	spec, err := l.build(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func python(ctx context.Context, p plugins.Place) (host.Spec, error) {
	interpreter, err := p.Python(ctx)
	return host.Spec{
		Command: []string{interpreter, p.Path(faulty + "python/plugin.py")},
		Env:     []string{"PYTHONPATH=" + p.Path(sdk+"python/src"), "PYTHONDONTWRITEBYTECODE=1"},
	}, err
}

func typescript(ctx context.Context, p plugins.Place) (host.Spec, error) {
	compiled, err := p.TypeScript(ctx)
	return host.Spec{
		Command: []string{"node", p.Path(faulty + "typescript/plugin.mjs")},
		Env:     []string{"SDK=" + filepath.Join(compiled, "dist/src/index.js")},
	}, err
}

func java(ctx context.Context, p plugins.Place) (host.Spec, error) {
	classes, err := p.JavaClasses(ctx, faulty+"java/Faulty.java")
	if err != nil {
		return host.Spec{}, err
	}
	command, err := p.JavaProgram(ctx, classes, "Faulty")
	return host.Spec{Command: command}, err
}

func rust(ctx context.Context, p plugins.Place) (host.Spec, error) {
	target := p.Path(".cache/rust")
	return host.Spec{Command: []string{filepath.Join(target, "debug/faulty")}},
		p.Run(ctx, "cargo", "build", "--quiet", "--manifest-path", p.Path(faulty+"rust/Cargo.toml"), "--target-dir", target)
}
