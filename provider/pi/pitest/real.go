package pitest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// Real gives the commands that start the real Pis of the repository at root, by their generations.
// If they are not installed the test is skipped, or fails with CI=true.
func Real(t *testing.T, root string) map[string][]string {
	t.Helper()
	if testing.Short() {
		t.Skip("drives the Pi coding agent")
	}
	installed := func(parts ...string) string {
		path, err := filepath.Abs(filepath.Join(append([]string{root, ".cache", "pi"}, parts...)...))
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			missing(t, err)
		}
		return path
	}
	needs.Programs(t, "the Pi coding agent", "node")
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, err)
	}
	found := map[string][]string{"0.73": {node, installed("old", "node_modules", "@mariozechner", "pi-coding-agent", "dist", "cli.js")}}
	if runtime.GOOS == "linux" {
		arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
		node = installed("new", "node_modules", "node-linux-"+arch, "bin", "node")
	}
	found["1.5"] = []string{node, installed("new", "node_modules", "@earendil-works", "pi-coding-agent", "dist", "bundle", "cli.js")}
	return found
}

// missing says loudly what is missing.
func missing(t *testing.T, what error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("Pi is not installed: %v; run: make pi", what)
	}
	t.Skipf("NOT TESTED: Pi is not installed: %v; run: make pi", what)
}

// Models is a models.json for Pi with a provider for each wire, fakean and fakeoa, at that address,
// each with the models one and two.
func Models(url string) []byte {
	list := []map[string]any{}
	for _, id := range []string{"one", "two"} {
		list = append(list, map[string]any{"id": id, "contextWindow": 200000, "maxTokens": 4096})
	}
	provider := func(api, base string) map[string]any {
		return map[string]any{"baseUrl": base, "api": api, "apiKey": "any-key", "models": list}
	}
	b, _ := json.Marshal(map[string]any{"providers": map[string]any{ // maps of texts and numbers can always be encoded
		"fakean": provider("anthropic-messages", url), "fakeoa": provider("openai-completions", url+"/v1"),
	}})
	return b
}
