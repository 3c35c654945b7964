package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/needs"
)

// acpClient is what the clients of `mulligan acp` work with: their own home, and a provider.
type acpClient struct {
	*testing.T
	home, node, client string
	env                []string
	lab                *faultlab.Lab
}

// newACPClient makes a acpClient whose provider plays a script.
func newACPClient(t *testing.T, s *setup, script string) *acpClient {
	t.Helper()
	steps, err := faultlab.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	d := &acpClient{T: t, home: t.TempDir(), node: filepath.Join(s.node, "node_modules", nodeFolder, "bin", "node"), client: filepath.Join(s.node, "node_modules", "acpx", "dist", "cli.js"), lab: faultlab.New()}
	d.lab.Script("one", steps...)
	provider, err := d.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.lab.Close()
		_ = provider.Close()
	})
	config := fmt.Sprintf("model: fable/one\nproviders:\n  fable: {type: anthropic, base_url: %q, key_env: LAB_KEY}\n"+
		"plugins:\n  - {name: auto-recover, deadline: 5s, config: {retries: {delays: [10ms], jitter: 0}}}\n"+
		"tools:\n  - {name: weather, description: The weather, command: [echo, rain], safety: read_only}\n", provider.URL())
	if err := os.WriteFile(filepath.Join(d.home, "mulligan.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = []string{
		"PATH=" + filepath.Dir(d.node) + ":" + os.Getenv("PATH"), "HOME=" + d.home, "XDG_STATE_HOME=" + filepath.Join(d.home, "state"),
		"LAB_KEY=any", "MULLIGAN=" + s.mulligan, "LANG=C.UTF-8", "TERM=dumb",
	}
	return d
}

// nodeFolder is the folder of the registry's Node for this machine.
var nodeFolder = "node-linux-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)

// acpx runs the command line client with one prompt.
func (d *acpClient) acpx(s *setup, how ...string) string {
	d.Helper()
	args := slices.Concat([]string{d.node, d.client, "--agent", s.mulligan + " acp"}, how, []string{"exec", "Hello"})
	out, _, err := run(d.Context(), nil, timeout, d.home, args, d.env)
	d.Logf("%v\n%s%s", err, out.out, out.err)
	return out.out
}

// TestACPX: a published client of the Agent Client Protocol drives `mulligan acp` as an editor
// does.
func TestACPX(t *testing.T) {
	s := editors(t)
	for _, row := range []struct {
		name, script string
		how          []string
		want         []string
		calls        int // of the model
	}{
		{"an answer", "answer:Here I am.", nil, []string{"Here I am.", "[done] end_turn"}, 1},
		{"a tool call", "tool:weather, answer:It rains.", nil, []string{"[tool] weather (completed)", "rain", "It rains."}, 2},
		{"approved by a program", "503, answer:Here I am.", []string{"--approve-all"}, []string{"Recovered after 1 retry", "Here I am."}, 2},
		{"withdrawn", "cut:Half of it, answer:Here I am.", []string{"--approve-all"}, []string{"Half of it", "does not count", "Here I am."}, 2},
		{"approved without end", "503", []string{"--approve-all"}, []string{"Reply 1 to retry, 2 to stop.", "[done] end_turn"}, 6},
		{"denied", "503, answer:Here I am.", []string{"--deny-all"}, []string{"You chose: Stop", "[done] end_turn"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newACPClient(t, s, row.script)
			said := d.acpx(s, row.how...)
			for _, want := range row.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if got := len(d.lab.Requests()); got != row.calls {
				t.Errorf("the model was asked %d times, not %d", got, row.calls)
			}
		})
	}
}

// TestACPXAsks: at a terminal acpx asks its user with the title, and y presses the suggested
// button.
func TestACPXAsks(t *testing.T) {
	if !testing.Short() {
		needs.Programs(t, "a client at a terminal", "script")
	}
	s := editors(t)
	d := newACPClient(t, s, "503, answer:Here I am.")
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "script", "-qec", fmt.Sprintf("'%s' '%s' --agent '%s acp' exec Hello", d.node, d.client, s.mulligan), "/dev/null")
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.home, d.env, 5*time.Second
	typed, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &answering{to: "(y/N)", by: func() { _, _ = typed.Write([]byte("y\n")) }}
	cmd.Stdout = out
	err = cmd.Run()
	if said := out.shown.String(); err != nil || !strings.Contains(said, "Allow Retry (fable is having problems)") || !strings.Contains(said, "Here I am.") {
		t.Errorf("%v\n%s", err, said)
	}
}

// answering collects what a program prints, and answers once when it prints to.
type answering struct {
	shown bytes.Buffer // not embedded, since its ReadFrom would bypass Write
	to    string
	by    func()
	done  bool
}

func (a *answering) Write(p []byte) (int, error) {
	n, err := a.shown.Write(p)
	if !a.done && strings.Contains(a.shown.String(), a.to) {
		a.done = true
		a.by()
	}
	return n, err
}

// TestEditorSDK: the protocol's official SDK, which validates each message against its schema,
// answers a form; then another editor loads the conversation.
func TestEditorSDK(t *testing.T) {
	s := editors(t)
	d := newACPClient(t, s, "503, answer:Here I am.")
	first := d.editor(s, "editor.mjs", "SAY=hello", "FORM=Retry")
	if first.Said != "Here I am." || first.StopReason != "end_turn" || len(first.Forms) != 1 || strings.Join(first.Forms[0].Choices, "|") != "Retry|Stop" || !slices.Contains(first.Notices, "Recovered after 1 retry") {
		t.Errorf("%+v", first)
	}
	again := d.editor(s, "editor.mjs", "SESSION="+first.SessionID)
	if again.Said != "Here I am." || again.Asked != "hello" || !slices.Contains(again.Listed, "hello") {
		t.Errorf("%+v", again)
	}
}

// TestACPXRuntime: a program that uses acpx as a library draws the forms itself.
func TestACPXRuntime(t *testing.T) {
	s := editors(t)
	for choice, want := range map[string]string{"Retry": "Here I am.", "Stop": ""} {
		d := newACPClient(t, s, "503, answer:Here I am.")
		got := d.editor(s, "runtime.mjs", "FORM="+choice)
		if got.Said != want || got.StopReason != "end_turn" || len(got.Forms) != 1 || strings.Join(got.Forms[0].Choices, "|") != "Retry|Stop" {
			t.Errorf("%s: %+v", choice, got)
		}
	}
}

// edited is what the programs that speak ACP print.
type edited struct {
	SessionID, StopReason, Said, Asked string
	Listed, Notices                    []string
	Forms                              []struct{ Choices []string }
}

func (d *acpClient) editor(s *setup, program string, env ...string) (e edited) {
	d.Helper()
	out, _, err := run(d.Context(), nil, timeout, d.home, []string{d.node, filepath.Join(s.node, program)}, slices.Concat(d.env, env))
	if err != nil || json.Unmarshal([]byte(out.out), &e) != nil {
		d.Fatalf("%v\n%s%s", err, out.out, out.err)
	}
	return e
}

// editors is the setup in which editors are installed.
func editors(t *testing.T) *setup {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts programs of Node: run make test-all")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	s := &setup{tools: tools{cache: filepath.Join(root, ".cache", "clients"), node: bin}, mulligan: filepath.Join(bin, "mulligan")}
	s.installed(t, client{name: "acpx", needs: "acp/node_modules/acpx/dist/cli.js"})
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.mulligan, "./cmd/mulligan")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if err := os.Symlink(filepath.Join(s.cache, "acp", "node_modules"), filepath.Join(bin, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"editor.mjs", "runtime.mjs"} { // they look for their modules in their own folder
		script, err := os.ReadFile(filepath.Join("acp", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(bin, name), script, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}
