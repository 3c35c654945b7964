package clients

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/mulligan-run/mulligan/bench/internal/loopback"
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
	service  *exec.Cmd // mulligan serve
	log      string    // the gateway's log file
	lab      *faultlab.Lab
	env      []string
}

// clawStart is how long a part may take until it listens. OpenClaw's gateway takes some 20 s.
const clawStart = 3 * time.Minute

// clawRules is the advice; auto-recover decides the rest.
const clawRules = `plugins:
  - name: rules
    config:
      rules:
        - {when: model == "lab/held", retry: {after: %s, jitter: false}}
        - {when: model == "lab/hopeless" && attempt > 0, fail: {reason: twice is enough}}
  - auto-recover
`

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
	// It can reach nothing but this machine.
	c.env = []string{
		"PATH=" + filepath.Dir(c.node) + ":" + os.Getenv("PATH"), "HOME=" + c.home, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "OPENCLAW_STATE_DIR=" + filepath.Join(c.home, "claw"),
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "XDG_STATE_HOME=" + filepath.Join(c.home, ".state"), "npm_config_offline=true",
	}
	provider, err := c.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.lab.Close()
		_ = provider.Close()
	})
	c.script()
	if err := os.WriteFile(filepath.Join(c.home, "mulligan.yaml"), fmt.Appendf(nil, clawRules, clawHold), 0o600); err != nil {
		t.Fatal(err)
	}
	at, gateway := loopback.Free(t), loopback.Free(t)
	c.service, _ = c.serve(at, c.mulligan, "serve", "--listen", at)
	c.configure(gateway, provider.URL())
	c.plugin(root, "http://"+at)
	_, c.log = c.serve(gateway, c.node, c.program, "gateway", "run")
	return c
}

// script says what each model of the lab does.
func (c *claw) script() {
	empty := faultlab.Status(http.StatusBadRequest, nil, noCredit)
	c.lab.Script(clawRecovers, faultlab.Overloaded(), faultlab.Answer("after all"))
	c.lab.Script(clawHeld, faultlab.Overloaded(), faultlab.Answer("after a while"))
	c.lab.Script(clawHopeless, faultlab.Overloaded())
	c.lab.Script(clawOverloaded, faultlab.Overloaded())
	c.lab.Script(clawNoCredit, empty)
	c.lab.Script(clawFallback, empty)
	c.lab.Script(clawAlone, faultlab.Overloaded(), faultlab.Answer("without Mulligan"))
	c.lab.Script(clawWell, faultlab.Answer("from the other"))
	c.lab.Script(clawChosen, faultlab.Answer("OpenClaw's choice"))
}

// plugin packs our plugin, and has OpenClaw install and configure it as the README says.
func (c *claw) plugin(root, mulligan string) {
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
	config := fmt.Sprintf(`{"url": %q, "timeout": 10000, "alternatives": ["other/well"]}`, mulligan)
	c.claw("plugins", "install", "npm-pack:"+packed[0], "--force", "--accept-capabilities")
	c.claw("config", "set", "plugins.entries.mulligan-recovery.hooks.allowConversationAccess", "true")
	c.claw("config", "set", "plugins.entries.mulligan-recovery.config", config)
}

// claw runs a command of OpenClaw that must not fail.
func (c *claw) claw(args ...string) {
	c.Helper()
	if out, _, err := run(c.Context(), nil, timeout, c.home, append([]string{c.node, c.program}, args...), c.env); err != nil {
		c.Fatalf("%v: %v\n%s%s", args, err, out.out, out.err)
	}
}

// configure writes OpenClaw's configuration, with an agent for each model of the lab.
func (c *claw) configure(gateway, lab string) {
	c.Helper()
	_, port, err := net.SplitHostPort(gateway)
	if err != nil {
		c.Fatal(err)
	}
	account := func(models ...string) map[string]any {
		known := []map[string]any{}
		for _, model := range models {
			known = append(known, map[string]any{"id": model, "name": model, "contextWindow": 200_000, "maxTokens": 4096})
		}
		return map[string]any{"baseUrl": lab, "api": "anthropic-messages", "apiKey": "any", "models": known}
	}
	agents := map[string]any{}
	for _, model := range clawAgents {
		asks := map[string]any{"primary": "lab/" + model}
		if model == clawFallback {
			asks["fallbacks"] = []string{"own/" + clawChosen}
		}
		agents[model] = map[string]any{"model": asks}
	}
	text, err := json.Marshal(map[string]any{
		"gateway": map[string]any{"mode": "local", "port": json.Number(port), "bind": "loopback", "auth": map[string]any{"mode": "token", "token": "t0"}},
		"agents": map[string]any{
			"defaults":  map[string]any{"model": map[string]any{"primary": "lab/" + clawRecovers}, "skipBootstrap": true, "workspace": filepath.Join(c.home, "workspace")},
			"ownership": "explicit", "entries": agents,
		},
		"models": map[string]any{"mode": "merge", "providers": map[string]any{"lab": account(clawAgents...), "other": account(clawWell), "own": account(clawChosen)}},
	})
	folder := filepath.Join(c.home, "claw")
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "openclaw.json"), text, 0o600)
	}
	if err != nil {
		c.Fatal(err)
	}
}

// serve starts a program and waits until it is ready. After the test it ends the program and
// everything that the program started.
func (c *claw) serve(at, program string, args ...string) (cmd *exec.Cmd, said string) {
	c.Helper()
	log, err := os.Create(filepath.Join(c.home, filepath.Base(program)+".log"))
	if err != nil {
		c.Fatal(err)
	}
	cmd = exec.Command(program, args...)
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
			return cmd, log.Name()
		}
	}
	c.Fatalf("%s is not ready after %s", program, clawStart)
	return nil, ""
}

// turn sends a message to the agent of a model, in a session, and returns its answer or its error.
func (c *claw) turn(t *testing.T, model, session string) (said, failed string) {
	t.Helper()
	args := []string{c.node, c.program, "agent", "--session-key", "agent:" + model + ":" + session, "--message", "Hello", "--json"}
	out, _, err := run(t.Context(), nil, timeout, c.home, args, c.env)
	if errors.Is(err, errHangs) {
		t.Fatalf("%v: %v", args, err)
	}
	var reply struct {
		Result struct {
			Payloads []struct {
				Text    string
				IsError bool
			}
		}
		Error struct{ Message string }
	}
	if err := json.Unmarshal([]byte(out.out), &reply); err != nil {
		t.Fatalf("%v\n%s%s", err, out.out, out.err)
	}
	failed = reply.Error.Message
	for _, p := range reply.Result.Payloads {
		if p.IsError {
			failed += p.Text
		} else {
			said += p.Text
		}
	}
	return said, failed
}

// answers requires that a turn is answered with want.
func (c *claw) answers(t *testing.T, model, session, want string) {
	t.Helper()
	if said, failed := c.turn(t, model, session); said != want || failed != "" {
		t.Errorf("%s says %q, and fails with %q; want %q", model, said, failed, want)
	}
}

// fails requires that a turn fails and says want.
func (c *claw) fails(t *testing.T, model, session, want string) {
	t.Helper()
	if said, failed := c.turn(t, model, session); said != "" || !strings.Contains(failed, want) {
		t.Errorf("%s says %q, and fails with %q; want %q", model, said, failed, want)
	}
}

// asked is when a model of the lab was asked.
func (c *claw) asked(model string) (at []time.Time) {
	for _, r := range c.lab.Requests() {
		if r.Model == model {
			at = append(at, r.At)
		}
	}
	return at
}

// said is the log of OpenClaw's gateway.
func (c *claw) said(t *testing.T) string {
	t.Helper()
	said, err := os.ReadFile(c.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// trail requires a call in Mulligan's timeline that failed with this kind and has this status:
// waiting for OpenClaw to act, or completed.
func (c *claw) trail(t *testing.T, model, kind, status string) {
	t.Helper()
	out, _, err := run(t.Context(), nil, timeout, c.home, []string{c.mulligan, "runs", "list", "--json"}, c.env)
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

// inFolder runs a command in a folder, and returns its output.
func inFolder(ctx context.Context, folder, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}
