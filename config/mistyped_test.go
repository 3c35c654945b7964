package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMistypedVariables: what is like a setting is told, and what is another's is not.
func TestMistypedVariables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mulligan.yaml")
	if err := os.WriteFile(path, []byte("tools: [] # MULLIGAN_STORE_PASSWORD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for variable, meant := range map[string]string{
		"MULLIGAN_FIRST_EVNT=10s": "MULLIGAN_FIRST_EVENT", "MULLIGAN_RETRIES=2": "MULLIGAN_MAX_RETRIES", "MULLIGAN_STATE_DIR=/x": "MULLIGAN_STATE",
		"MULLIGAN_Auto_Recover=true": "MULLIGAN_AUTO_RECOVER", "MULLIGAN_FALLBACK=a/b": "MULLIGAN_FALLBACKS", "MULLIGAN_CONFG=x": "MULLIGAN_CONFIG",
		"MULLIGAN_STORE_PASSWORD=x": "", "MULLIGAN_FIRST_EVNT=": "", "MULLIGAN_STORE=postgres://x": "", "FIRST_EVNT=x": "", "MULLIGAN_IMAGE=x": "",
		"MULLIGAN_SIM_RUNS=5": "", "MULLIGAN_SIM_SEED=5": "", "MULLIGAN_TOKEN=x": "", "MULLIGAN_PROXY_TOKEN=x": "", "MULLIGAN_URL=x": "", "MULLIGAN_DEBUG=1": "",
		"MULLIGAN_POSTGRES=x": "", "MULLIGAN_CALL_ID=x": "", "MULLIGAN_IDEMPOTENCY_KEY=x": "", "MULLIGAN_TIMEOUT_MS=5": "", "MULLIGAN_DRY_RUN=1": "",
		"MULLIGAN_PLUGIN_STATE=x": "", "MULLIGAN_PLUGIN_VALUES=x": "", "MULLIGAN_DEMO_TOOL_DELAY=2s": "", "MULLIGAN_DB_PASSWORD=x": "", "MULLIGAN_BINARY=x": "",
		"MULLIGAN_PI=x": "", "MULLIGAN_PI_LIMIT=1": "", "MULLIGAN_PI_OBSERVE=1": "", "MULLIGAN_KILL_CYCLES=9": "", "MULLIGAN_CLUSTER_REPEATS=5": "", "MULLIGAN_FAULTS=x": "",
	} {
		c := &Config{Path: path}
		said := strings.Join(c.Mistyped([]string{"HOME=/x", variable}), "\n")
		if meant == "" && said != "" || meant != "" && !strings.HasSuffix(said, "did you mean "+meant+"?") {
			t.Errorf("%s: %q", variable, said)
		}
	}
	if said := (&Config{}).Mistyped([]string{"MULLIGAN_FIRST_EVNT=10s", "MULLIGAN_PLUGIN=x"}); said != nil {
		t.Errorf("in a plugin: %q", said)
	}
}
