package clients

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo: the proxy's demo, started as `make demo-proxy` starts it, shows what it promises.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs and waits for a provider that says nothing: run make test-all")
	}
	s := set(t)
	cmd := exec.CommandContext(t.Context(), "go", "run", "./demo", s.mulligan, s.agent)
	cmd.Dir = filepath.Join(s.here, "..", "..", "internal", "compat")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"[fable-1 is asked, over Anthropic's wire]\nIt is 14 °C and clear in Os\n    [atlas-1 is asked, over OpenAI's wire]\nlo: a light jacket is enough.\n",
		"1 call rescued: 1 switched to atlas-1; 0 lost\n",
		"The agent has one answer: " + answer + "\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not show %q:\n%s", want, out)
		}
	}
}
