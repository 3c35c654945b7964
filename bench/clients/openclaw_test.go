package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/needs"
)

// claw is a real OpenClaw with our plugin, its gateway and its runner, and a `mulligan serve`.
type claw struct {
	*testing.T
	home     string
	node     string
	program  string
	mulligan string
	lab      *faultlab.Lab
	env      []string
}

// The models of the lab, which OpenClaw knows by provider and name.
const (
	clawOverloaded = "overloaded" // 529, always
	clawRecovers   = "recovers"   // 529, and then an answer
	clawNoCredit   = "no-credit"  // what Anthropic says to an account without credit
	clawWell       = "well"
)

const noCredit = `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`

// clawStart is how long a part of it may take until it listens: its gateway takes some 20 s.
const clawStart = 3 * time.Minute

// TestOpenClaw: what today's OpenClaw lets a plugin do is done, and what it does not lets it go on
// as without us. It repeats by itself, and has no hook that may answer with an action; but its
// session's next turn may ask another model.
func TestOpenClaw(t *testing.T) {
	c := newClaw(t)
	t.Run("a 529 that passes is its own to repeat", func(t *testing.T) {
		if said := c.turn(t, clawRecovers, "a"); said != "after all" {
			t.Errorf("%q", said)
		}
	})
	t.Run("a 529 that lasts fails as without us, and Mulligan has heard of it", func(t *testing.T) {
		if said := c.turn(t, clawOverloaded, "b"); said != "" {
			t.Errorf("it answered: %q", said)
		}
		c.trail(t, clawOverloaded, "overloaded", "waiting")
	})
	t.Run("no credit, and the next turn asks another model", func(t *testing.T) {
		if said := c.turn(t, clawNoCredit, "c"); said != "" {
			t.Errorf("it answered: %q", said)
		}
		c.trail(t, clawNoCredit, "billing", "waiting")
		if said := c.turn(t, clawNoCredit, "c"); said != "from the other" {
			t.Errorf("%q", said)
		}
		c.trail(t, clawNoCredit, "billing", "completed")
	})
}

// newClaw starts all of it.
func newClaw(t *testing.T) *claw {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts OpenClaw: run make openclaw")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(root, ".cache", "clients", "openclaw", "node_modules")
	c := &claw{T: t, home: t.TempDir(), lab: faultlab.New(), node: filepath.Join(modules, nodeFolder, "bin", "node"), program: filepath.Join(modules, "openclaw", "openclaw.mjs")}
	if _, err := os.Stat(c.program); err != nil {
		t.Skipf("NOT TESTED: OpenClaw, which has 830 MB, is not installed: make openclaw (%v)", err)
	}
	needs.Programs(t, "our plugin in OpenClaw", "npm")
	c.mulligan = filepath.Join(t.TempDir(), "mulligan")
	if said, err := inFolder(t.Context(), root, "go", "build", "-o", c.mulligan, "./cmd/mulligan"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	// It is kept from everything but this machine.
	c.env = []string{
		"PATH=" + filepath.Dir(c.node) + ":" + os.Getenv("PATH"), "HOME=" + c.home, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "OPENCLAW_STATE_DIR=" + filepath.Join(c.home, "claw"),
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "XDG_STATE_HOME=" + filepath.Join(c.home, ".state"),
	}
	c.lab.Script(clawRecovers, faultlab.Overloaded(), faultlab.Answer("after all"))
	c.lab.Script(clawOverloaded, faultlab.Overloaded())
	c.lab.Script(clawNoCredit, faultlab.Status(http.StatusBadRequest, nil, noCredit))
	c.lab.Script(clawWell, faultlab.Answer("from the other"))
	provider, err := c.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.lab.Close()
		_ = provider.Close()
	})
	at := freePort(t)
	c.serve(at, c.mulligan, "serve", "--listen", at)
	gateway := freePort(t)
	c.configure(gateway, "http://"+at, provider.URL(), c.plugin(root))
	c.serve(gateway, c.node, c.program, "gateway", "run")
	return c
}

// plugin packs our plugin, and unpacks it as OpenClaw would have it.
func (c *claw) plugin(root string) (folder string) {
	c.Helper()
	from := filepath.Join(root, "sdk", "typescript", "recovery")
	for _, args := range [][]string{{"npm", "ci", "--ignore-scripts", "--silent", "--no-audit", "--no-fund"}, {"npm", "pack", "--silent", "--pack-destination", c.home}} {
		if said, err := inFolder(c.Context(), from, args[0], args[1:]...); err != nil {
			c.Fatalf("%v: %v: %s", args, err, said)
		}
	}
	packed, err := filepath.Glob(filepath.Join(c.home, "*.tgz"))
	if err != nil || len(packed) != 1 {
		c.Fatal(packed, err)
	}
	if said, err := inFolder(c.Context(), c.home, "tar", "-xzf", packed[0]); err != nil {
		c.Fatalf("%v: %s", err, said)
	}
	return filepath.Join(c.home, "package")
}

// configure writes OpenClaw's configuration: an agent for each model of the lab.
func (c *claw) configure(gateway, mulligan, lab, plugin string) {
	c.Helper()
	_, port, err := net.SplitHostPort(gateway)
	if err != nil {
		c.Fatal(err)
	}
	models, agents := []string{}, []string{}
	for _, model := range []string{clawOverloaded, clawRecovers, clawNoCredit} {
		models = append(models, fmt.Sprintf(`{"id": %q, "name": %[1]q, "contextWindow": 200000, "maxTokens": 4096}`, model))
		agents = append(agents, fmt.Sprintf(`%q: {"model": {"primary": "lab/%[1]s"}}`, model))
	}
	text := fmt.Sprintf(`{
		"gateway": {"mode": "local", "port": %s, "bind": "loopback", "auth": {"mode": "token", "token": "t0"}},
		"agents": {"defaults": {"model": {"primary": "lab/overloaded"}, "skipBootstrap": true, "workspace": %q}, "entries": {%s}, "ownership": "explicit"},
		"models": {"mode": "merge", "providers": {
			"lab": {"baseUrl": %q, "api": "anthropic-messages", "apiKey": "any", "models": [%s]},
			"other": {"baseUrl": %[4]q, "api": "anthropic-messages", "apiKey": "any", "models": [{"id": "well", "name": "well", "contextWindow": 200000, "maxTokens": 4096}]}}},
		"plugins": {"load": {"paths": [%[6]q]}, "entries": {"mulligan-recovery": {"enabled": true, "hooks": {"allowConversationAccess": true}, "config": {"url": %[7]q, "alternatives": ["other/well"]}}}}
	}`, port, filepath.Join(c.home, "workspace"), strings.Join(agents, ", "), lab, strings.Join(models, ", "), plugin, mulligan)
	folder := filepath.Join(c.home, "claw")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "openclaw.json"), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// serve starts a program, waits until it is ready, and ends it, and what it started, after the test.
func (c *claw) serve(at, program string, args ...string) {
	c.Helper()
	log, err := os.Create(filepath.Join(c.home, filepath.Base(program)+".log"))
	if err != nil {
		c.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.home, c.env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_ = log.Close()
		if said, err := os.ReadFile(log.Name()); err == nil && c.Failed() {
			c.Logf("%s\n%s", filepath.Base(program), said[max(0, len(said)-8000):])
		}
	})
	for end := time.Now().Add(clawStart); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		ask, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://"+at+"/readyz", http.NoBody)
		if err != nil {
			c.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(ask)
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	c.Fatalf("%s is not ready after %s", program, clawStart)
}

// turn has the agent of a model hear a message in a session; "" is no answer.
func (c *claw) turn(t *testing.T, model, session string) (said string) {
	t.Helper()
	args := []string{c.node, c.program, "agent", "--session-key", "agent:" + model + ":" + session, "--message", "Hello", "--json"}
	out, _, err := run(t.Context(), nil, patience, c.home, args, c.env)
	var answer struct {
		Result struct{ Payloads []struct{ Text string } }
	}
	if bad := json.Unmarshal([]byte(out.out), &answer); bad != nil { // it failed, and says so elsewhere
		t.Logf("%v\n%s%s", err, out.out, out.err)
		return ""
	}
	var texts []string
	for _, p := range answer.Result.Payloads {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// trail demands a call in Mulligan's timeline that failed so, and whose status is that: waiting for
// OpenClaw to do what it was told, or completed.
func (c *claw) trail(t *testing.T, model, kind, status string) {
	t.Helper()
	out, _, err := run(t.Context(), nil, patience, c.home, []string{c.mulligan, "runs", "list", "--json"}, c.env)
	if err != nil {
		t.Fatalf("%v: %s", err, out.err)
	}
	for line := range strings.Lines(out.out) {
		if strings.Contains(line, `"agent:`+model+":") && strings.Contains(line, `"`+kind+`"`) && strings.Contains(line, `"`+status+`"`) {
			return
		}
	}
	t.Errorf("no call of lab/%s that failed as %s is %s:\n%s", model, kind, status, out.out)
}

// inFolder runs a command in a folder, and gives what it said.
func inFolder(ctx context.Context, folder, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

// freePort is an address of this machine that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
