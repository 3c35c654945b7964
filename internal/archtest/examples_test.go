package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// shown are the packages that embedders use; each needs an example for pkg.go.dev.
var shown = []string{
	"failure", "llm", "runner", "recovery", "hooks", "host", "timeline", "timeline/sqlite", "timeline/postgres", "provider",
	"gateway", "proxy", "server", "sdk/go/client", "sdk/go/plugin",
}

var example = regexp.MustCompile(`(?m)^func Example`)

func TestExamples(t *testing.T) {
	for _, room := range shown {
		files, err := filepath.Glob(filepath.Join(root, room, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || example.Match(source)
		}
		if !found {
			t.Errorf("package %s has no Example: an embedder meets it, and pkg.go.dev shows none", room)
		}
	}
}
