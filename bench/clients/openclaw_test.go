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
	"sync"
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
	kill     func() // ends Mulligan
}

// The models of the lab, which OpenClaw knows by provider and name; each has an agent of its own.
const (
	clawRecovers  = "recovers"  // 529, and then an answer
	clawHopeless  = "hopeless"  // 529, always
	clawNoCredit  = "no-credit" // what Anthropic says to an account without credit
	clawFallback  = "fallback"  // the same, and its agent has a model to fall back to
	clawUnadvised = "unadvised" // 529, and then an answer: it is asked after Mulligan was killed
	clawWell      = "well"      // what Mulligan may switch to
	clawOwn       = "own"       // what OpenClaw would fall back to
)

// clawWait is how long Mulligan has a retry wait, longer than OpenClaw would by itself.
const clawWait = 6 * time.Second

// clawRules is what Mulligan advises.
const clawRules = `plugins:
  - name: rules
    config:
      rules:
        - when: failure.kind == "billing"
          switch_model: {to: [other/well]}
          reason: the account is empty
        - when: attempt < 1
          retry: {after: 6s, jitter: false}
          reason: it may pass
        - when: "true"
          fail: {reason: twice is enough}
`

const noCredit = `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`

// clawStart is how long a part of it may take until it listens: its gateway takes some 20 s.
const clawStart = 3 * time.Minute

// TestOpenClaw: what today's OpenClaw lets a plugin do is done, and without Mulligan it goes on as
// without us.
func TestOpenClaw(t *testing.T) {
	c := newClaw(t)
	t.Run("a 529 is repeated when Mulligan says so", func(t *testing.T) {
		if turn := c.turn(t, clawRecovers, "a"); turn.said != "after all" {
			t.Errorf("%+v", turn)
		}
		if at := c.asked(clawRecovers); len(at) != 2 || at[1].Sub(at[0]) < clawWait {
			t.Errorf("it was asked at %v, want twice, %v apart", at, clawWait)
		}
		c.trail(t, clawRecovers, "overloaded", "completed")
	})
	t.Run("what Mulligan gives up is not asked again", func(t *testing.T) { // alone it asks up to nine times
		if turn := c.turn(t, clawHopeless, "b"); !strings.Contains(turn.failed, "twice is enough") {
			t.Errorf("%+v", turn)
		}
		if at := c.asked(clawHopeless); len(at) != 2 {
			t.Errorf("it was asked at %v, want twice", at)
		}
		c.trail(t, clawHopeless, "overloaded", "failed")
	})
	t.Run("no credit, and the session's next turn asks another model", func(t *testing.T) {
		if turn := c.turn(t, clawNoCredit, "c"); turn.said != "" {
			t.Errorf("%+v", turn)
		}
		c.trail(t, clawNoCredit, "billing", "waiting")
		if turn := c.turn(t, clawNoCredit, "c"); turn.said != "from the other" {
			t.Errorf("%+v", turn)
		}
		c.trail(t, clawNoCredit, "billing", "completed")
	})
	t.Run("no credit, but fallbacks, and Mulligan chooses among them within the turn", func(t *testing.T) {
		if turn := c.turn(t, clawFallback, "d"); turn.said != "from the other" {
			t.Errorf("%+v", turn)
		}
		if at := c.asked(clawOwn); len(at) > 0 {
			t.Errorf("OpenClaw's own choice was asked at %v", at)
		}
		c.trail(t, clawFallback, "billing", "completed")
	})
	t.Run("it has no hook to answer with an action", func(t *testing.T) { // when this fails, the plugin's README has to tell of it
		if said := c.log(t); !strings.Contains(said, `unknown typed hook "run_error" ignored (plugin=mulligan-recovery`) {
			t.Error(said)
		}
	})
	t.Run("Mulligan is killed", func(t *testing.T) {
		c.kill()
		if turn := c.turn(t, clawUnadvised, "e"); turn.said != "by itself" {
			t.Errorf("%+v", turn)
		}
		if at := c.asked(clawUnadvised); len(at) != 2 {
			t.Errorf("it was asked at %v, want twice", at)
		}
		if n := strings.Count(c.log(t), "gives no advice"); n != 1 {
			t.Errorf("that it gives no advice is said %d times, want once", n)
		}
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
	c.lab.Script(clawHopeless, faultlab.Overloaded())
	c.lab.Script(clawNoCredit, faultlab.Status(http.StatusBadRequest, nil, noCredit))
	c.lab.Script(clawFallback, faultlab.Status(http.StatusBadRequest, nil, noCredit))
	c.lab.Script(clawUnadvised, faultlab.Overloaded(), faultlab.Answer("by itself"))
	c.lab.Script(clawWell, faultlab.Answer("from the other"))
	c.lab.Script(clawOwn, faultlab.Answer("OpenClaw's own choice"))
	provider, err := c.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.lab.Close()
		_ = provider.Close()
	})
	at := freePort(t)
	rules := filepath.Join(c.home, "mulligan.yaml")
	if err := os.WriteFile(rules, []byte(clawRules), 0o600); err != nil {
		t.Fatal(err)
	}
	c.kill = c.serve(at, c.mulligan, "serve", "--config", rules, "--listen", at)
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
	account := func(models ...string) string {
		var all []string
		for _, model := range models {
			all = append(all, fmt.Sprintf(`{"id": %q, "name": %[1]q, "contextWindow": 200000, "maxTokens": 4096}`, model))
		}
		return fmt.Sprintf(`{"baseUrl": %q, "api": "anthropic-messages", "apiKey": "any", "models": [%s]}`, lab, strings.Join(all, ", "))
	}
	asked := []string{clawRecovers, clawHopeless, clawNoCredit, clawFallback, clawUnadvised}
	var agents []string
	for _, model := range asked {
		agent := map[string]any{"primary": "lab/" + model}
		if model == clawFallback {
			agent["fallbacks"] = []string{"own/" + clawOwn}
		}
		is, err := json.Marshal(map[string]any{"model": agent})
		if err != nil {
			c.Fatal(err)
		}
		agents = append(agents, fmt.Sprintf("%q: %s", model, is))
	}
	text := fmt.Sprintf(`{
		"gateway": {"mode": "local", "port": %s, "bind": "loopback", "auth": {"mode": "token", "token": "t0"}},
		"agents": {"defaults": {"model": {"primary": "lab/hopeless"}, "skipBootstrap": true, "workspace": %q}, "entries": {%s}, "ownership": "explicit"},
		"models": {"mode": "merge", "providers": {"lab": %s, "other": %s, "own": %s}},
		"plugins": {"load": {"paths": [%q]}, "entries": {"mulligan-recovery": {"enabled": true, "hooks": {"allowConversationAccess": true},
			"config": {"url": %q, "timeout": 60000, "alternatives": ["other/well"]}}}}
	}`, port, filepath.Join(c.home, "workspace"), strings.Join(agents, ", "), account(asked...), account(clawWell), account(clawOwn), plugin, mulligan)
	folder := filepath.Join(c.home, "claw")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "openclaw.json"), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// serve starts a program, waits until it is ready, and ends it, and what it started, after the test
// or by kill.
func (c *claw) serve(at, program string, args ...string) (kill func()) {
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
	kill = sync.OnceFunc(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_ = log.Close()
	})
	c.Cleanup(func() {
		kill()
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
			return kill
		}
	}
	c.Fatalf("%s is not ready after %s", program, clawStart)
	return kill
}

// turn is what a turn ended with: an answer, or why there is none.
type turn struct{ said, failed string }

// turn has the agent of a model hear a message in a session.
func (c *claw) turn(t *testing.T, model, session string) turn {
	t.Helper()
	args := []string{c.node, c.program, "agent", "--session-key", "agent:" + model + ":" + session, "--message", "Hello", "--json"}
	out, _, err := run(t.Context(), nil, patience, c.home, args, c.env)
	var answer struct {
		Error  struct{ Message string }
		Result struct {
			Payloads []struct {
				Text    string
				IsError bool
			}
		}
	}
	if bad := json.Unmarshal([]byte(out.out), &answer); bad != nil {
		t.Logf("%v\n%s%s", err, out.out, out.err)
		return turn{failed: bad.Error()}
	}
	ended := turn{failed: answer.Error.Message}
	for _, p := range answer.Result.Payloads {
		if p.IsError {
			ended.failed += p.Text
		} else {
			ended.said += p.Text
		}
	}
	return ended
}

// asked is when the lab was asked for a model.
func (c *claw) asked(model string) (at []time.Time) {
	for _, r := range c.lab.Requests() {
		if r.Model == model {
			at = append(at, r.At)
		}
	}
	return at
}

// log is what OpenClaw's gateway has said.
func (c *claw) log(t *testing.T) string {
	t.Helper()
	said, err := os.ReadFile(filepath.Join(c.home, filepath.Base(c.node)+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
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
