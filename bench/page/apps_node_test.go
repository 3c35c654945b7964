package page

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAppsInNode: the clients under the examples, without a page: they validate what they receive
// against the schemas of their protocols.
func TestAppsInNode(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs of Node: run make test-all")
	}
	for script, app := range map[string]string{"agui.mjs": "agui-react", "aisdk.mjs": "aisdk-react"} {
		t.Run(script, func(t *testing.T) {
			needs.Programs(t, "a client of a web app", "node")
			h := build(t, advise(func(hooks.RunError) recovery.Vote { return recovery.Vote{Action: recovery.ActionRetry} }))
			h.play(opus, faultlab.CutAfter("Half of it"), faultlab.Answer("The whole answer."))
			dir := h.beside(app, filepath.Join("testdata", script))
			cmd := exec.CommandContext(t.Context(), "node", script, h.url, h.bearer, "Retry")
			cmd.Dir, cmd.Stderr = dir, os.Stderr
			out, err := cmd.Output()
			var said struct {
				Choices, Messages, Back []string
				Message, State          string
				Partial                 bool
				Pending                 int
			}
			if err != nil || json.Unmarshal(out, &said) != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if strings.Join(said.Choices, "|") != "Retry|Switch to openai/gpt-5.2|Stop" || !strings.Contains(said.Message, "The connection to Anthropic broke") || !said.Partial || said.Pending != 0 || said.State != "recovered" {
				t.Errorf("%s", out)
			}
			for _, messages := range [][]string{said.Messages, said.Back} {
				if got := messages[len(messages)-1]; got != "assistant: The whole answer." {
					t.Errorf("it ends with %s\n%s", got, out)
				}
			}
		})
	}
}
