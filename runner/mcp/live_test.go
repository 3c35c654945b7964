package mcp

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// everything is the reference server of the protocol's own people, in one version.
const (
	everything        = "@modelcontextprotocol/server-everything"
	everythingVersion = "2026.8.31"
)

// install installs the server, once per machine, and gives its command.
var install = sync.OnceValues(func() ([]string, error) {
	if err := errors.Join(needs.Runs("node"), needs.Runs("npm")); err != nil {
		return nil, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", ".cache", "mcp", everythingVersion))
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(folder, "node_modules")
	command := []string{node, filepath.Join(modules, everything, "dist", "index.js"), "stdio"}
	if _, err := os.Stat(filepath.Join(modules, ".package-lock.json")); err == nil { // npm's last act
		return command, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	npm := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, everything+"@"+everythingVersion)
	if out, err := npm.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm install: %w\n%s", err, out)
	}
	return command, nil
})

func installed(t *testing.T) []string {
	t.Helper()
	command, err := install()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip("NOT TESTED with a real MCP server, which needs Node and npm: ", err)
	}
	return command
}

// live is a runner whose model is a lab's, with the tools of the real server.
func live(t *testing.T, spec Spec, steps ...faultlab.Step) (*Set, *runner.Runner) {
	t.Helper()
	spec.Name, spec.Command = "everything", installed(t)
	set := opened(t, spec, usualPace, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if s := state(set); s.Status != StatusRunning {
		t.Fatalf("%+v", s)
	}
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = lab.Close(), server.Close() })
	lab.Script("fable-1", steps...)
	models, err := provider.New([]provider.Entry{{Name: "lab", Type: "anthropic", BaseURL: server.URL(), Key: "any"}})
	if err != nil {
		t.Fatal(err)
	}
	return set, runner.New(runner.WithModels(models, "lab/fable-1"), runner.WithToolsFrom(set.Tools))
}

// killDuring starts a run and kills the server once the tool tells how far it has come.
func killDuring(t *testing.T, set *Set, r *runner.Runner) (*runner.Run, []recovery.ToolReturned) {
	t.Helper()
	going, err := r.Start(t.Context(), runner.Request{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	var returned []recovery.ToolReturned
	killed := 0
	for item, err := range going.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event == nil {
			continue
		}
		switch body := item.Event.Body.(type) {
		case recovery.ToolReturned:
			returned = append(returned, body)
		case recovery.Noted:
			if pid := state(set).PID; body.Topic == recovery.TopicToolSays && killed == 0 && pid != 0 {
				killed = pid
				if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if killed == 0 {
		t.Error("the tool told nothing of its progress")
	}
	return going, returned
}

const (
	longTool = "everything__trigger-long-running-operation"
	long     = `{"duration": 600, "steps": 6000}`
	short    = `{"duration": 0.2, "steps": 2}`
)

// TestLiveServerKilledInMidCall: the tool says of itself that it changes nothing, so the
// model sees an error and asks again; the server is back by then.
func TestLiveServerKilledInMidCall(t *testing.T) {
	t.Parallel()
	set, r := live(t, Spec{}, faultlab.ToolCall(longTool, long), faultlab.ToolCall(longTool, short), faultlab.Answer("It is done."))
	going, returned := killDuring(t, set, r)
	result, err := going.Wait(t.Context())
	if err != nil || result.Text != "It is done." || result.Status != recovery.StatusCompleted {
		t.Fatalf("got %+v, %v", result, err)
	}
	if len(returned) != 2 || returned[0].Outcome != recovery.OutcomeError || returned[1].Outcome != recovery.OutcomeOK || !strings.Contains(returned[1].Result.Text, "completed") {
		t.Errorf("the calls returned %+v", returned)
	}
	if s := state(set); s.Restarts != 1 || s.Status != StatusRunning {
		t.Errorf("%+v", s)
	}
}

// TestLiveUnsafeOutcomeIsUnknown is the same call of a tool that the configuration does
// not trust.
func TestLiveUnsafeOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	spec := Spec{Safety: map[string]recovery.Safety{"trigger-long-running-operation": recovery.SafetyUnsafe}}
	set, r := live(t, spec, faultlab.ToolCall(longTool, long), faultlab.Answer("I see."))
	_, returned := killDuring(t, set, r)
	if len(returned) != 1 || returned[0].Outcome != recovery.OutcomeUnknown {
		t.Errorf("the call returned %+v", returned)
	}
}

// TestLiveTools calls what the server has besides.
func TestLiveTools(t *testing.T) {
	t.Parallel()
	set := opened(t, Spec{Name: "everything", Command: installed(t), Timeout: time.Minute}, usualPace, quiet)
	for tool, want := range map[string]string{
		"everything__echo":           "Echo: hello",
		"everything__get-tiny-image": "[image/png, ",
		"everything__get-sum":        "5",
	} {
		text, err := runWith(t.Context(), t, set, tool, `{"message": "hello", "a": 2, "b": 3}`)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s gave %q, %v", tool, text, err)
		}
	}
	_, err := runWith(t.Context(), t, set, "everything__get-sum", `{"a": "two"}`)
	if err == nil {
		t.Error("wrong arguments were taken")
	}
}
