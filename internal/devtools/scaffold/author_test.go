package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// unpublished is what a new plugin still lacks for its language's registry once it has a licence:
// facts that only its author knows, and an SDK that is published.
var unpublished = map[string][]string{
	"go":         {"a module that can be fetched", "no replace"},
	"java":       {"licenses in pom.xml"},
	"python":     {"it is public", "project.license"},
	"typescript": {"it is public", "description in package.json", "license in package.json", "a program", "dependency @mulligan-run/plugin"},
	"rust":       {"it is public", "description in Cargo.toml", "license in Cargo.toml", "dependency mulligan-plugin"},
}

// othersHaveIt takes the author's remaining steps: the plugin in dir is checked, installed in an
// empty home, asked during a run, and removed.
func othersHaveIt(t *testing.T, lang, dir, mulligan string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("Take it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if lacks := missing(t, dir, mulligan); !slices.Equal(lacks, unpublished[lang]) {
		t.Errorf("it lacks %q, not %q", lacks, unpublished[lang])
	}
	elsewhere := t.TempDir()
	config := filepath.Join(elsewhere, "mulligan.yaml")
	before := "# ours\nmodel: fable/fable-1\nfallbacks: [atlas/atlas-1]\nauto_recover: true\nplugins:\n  - auto-recover\n"
	if err := os.WriteFile(config, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	said := command(t, elsewhere, mulligan, "plugin", "install", "--yes", dir)
	if !strings.Contains(said, "my-rules 0.1.0, from "+dir) || !strings.Contains(said, "Plugin my-rules is installed") {
		t.Errorf("plugin install said\n%s", said)
	}
	if said := command(t, elsewhere, mulligan, "plugin", "verify"); !strings.Contains(said, "✓ my-rules: as pinned") {
		t.Errorf("plugin verify said\n%s", said)
	}
	installed, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	unhurried(t, config)
	if said := command(t, elsewhere, mulligan, "run", faultlab.DemoPrompt); !strings.Contains(said, "plugin my-rules 0.1.0 decides") {
		t.Errorf("installed, the run said\n%s", said)
	}
	if err := os.WriteFile(config, installed, 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, elsewhere, mulligan, "plugin", "remove", "my-rules")
	if after, err := os.ReadFile(config); err != nil || string(after) != before {
		t.Errorf("removed, it leaves %v\n%s", err, after)
	}
}

// missing is what plugin publish --check reports as missing.
func missing(t *testing.T, dir, mulligan string) (lacks []string) {
	t.Helper()
	check := exec.CommandContext(t.Context(), mulligan, "plugin", "publish", "--check")
	check.Dir = dir
	out, err := check.Output()
	for line := range strings.Lines(string(out)) {
		if what, ok := strings.CutPrefix(line, "✗ "); ok {
			what, _, _ = strings.Cut(what, ":")
			lacks = append(lacks, what)
		}
	}
	if (err == nil) != (lacks == nil) {
		t.Fatalf("plugin publish --check: %v\n%s", err, out)
	}
	return lacks
}
