package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/recipe"
)

const (
	directly = 30 * time.Second // for a client without the proxy, from its first request; then it counts as having no answer
	timeout  = 4 * time.Minute  // for a client in all, on a busy machine
)

// verdict is the outcome of a conversation.
type verdict string

// The verdicts.
const (
	right  verdict = "right"  // the answer, once, after the tool ran once
	failed verdict = "failed" // it said so
	wrong  verdict = "wrong"  // it ended as if it had succeeded, without the answer
	hangs  verdict = "hangs"  // it had no answer when its time was over
	double verdict = "double" // the tool ran more than once, or text came twice
)

// played is a finished conversation.
type played struct {
	verdict verdict
	took    time.Duration
	line    string // the proxy's last line
	out     string // what was printed, for debugging
}

// setup is everything that clients are played with.
type setup struct {
	tools
	mulligan string // the program
}

// play plays a conversation of a client with a fault, directly or through the proxy.
func (s *setup) play(t *testing.T, c client, f fault, proxied bool) played {
	t.Helper()
	home := t.TempDir()
	log := filepath.Join(home, "tool.log")
	sc := newScriptedProvider(f, c.plain, fmt.Sprintf("echo ran Oslo >> '%s'; echo '14 °C and clear'", log))
	env := append([]string{
		"HOME=" + home, "PATH=" + filepath.Join(s.cache, "node", "node_modules", ".bin") + ":" + os.Getenv("PATH"), "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "TERM=dumb", "TOOL_LOG=" + log,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_STATE_HOME=" + filepath.Join(home, ".state"), "XDG_DATA_HOME=" + filepath.Join(home, ".data"), "XDG_CACHE_HOME=" + filepath.Join(home, ".xcache"),
	}, c.env...)
	program, limit := c.program(&s.tools), directly
	if proxied {
		limit = timeout
		config := filepath.Join(home, "mulligan.yaml")
		if err := os.WriteFile(config, []byte(strings.ReplaceAll(routes, "LAB", sc.server.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, "PROVIDER_KEY=any-key-of-a-test")
		program = append([]string{s.mulligan, "proxy", "--config", config, "--state", filepath.Join(home, "state"), "--"}, program...)
	} else {
		start, err := recipe.For(program, env, recipe.Door{URL: sc.server.URL, Token: "any-key-of-a-test", Dir: home})
		if err != nil {
			t.Fatal(err)
		}
		program, env = start.Program, start.Env
	}
	out, took, err := run(t.Context(), sc.begun, limit, home, program, env)
	sc.close()
	ran, _ := os.ReadFile(log) // none if the tool did not run
	p := played{verdict: verdictOf(out, err, strings.Count(string(ran), "ran"), c.plain), took: took, line: lineOf(out.err)}
	p.out = fmt.Sprintf("%v after %v; the tool ran %q; %d calls\n%s\n%s\nrefused: %q; other paths: %q", err, took, ran, sc.asked, out.out, out.err, sc.refused, sc.received)
	return p
}

// routes is the proxy's configuration: first the provider that fails, then a healthy one on another
// wire than Anthropic's. A silent provider is given up sooner than usual, to save time in the
// report.
const routes = `
timeouts: {first_event: 8s, idle: 8s}
providers:
  anthropic: {type: anthropic, base_url: LAB, key_env: PROVIDER_KEY}
  openai: {type: openai, base_url: LAB/v1, key_env: PROVIDER_KEY}
  openai-responses: {type: openai-responses, base_url: LAB/v1, key_env: PROVIDER_KEY}
  backup: {type: openai, base_url: LAB/v1, key_env: PROVIDER_KEY}
proxy:
  routes:
    - {match: "*", models: [$provider/$model, backup/` + healthy + `]}
`

// printed is a program's output.
type printed struct{ out, err string }

var errHangs = errors.New("it says nothing")

// run runs a program until it ends, or until its limit after its first request is over.
func run(ctx context.Context, asked <-chan struct{}, limit time.Duration, home string, program, env []string) (printed, time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errHangs)
	defer cancel()
	ctx, hang := context.WithCancelCause(ctx)
	defer hang(nil)
	go func() {
		select {
		case <-asked:
			defer time.AfterFunc(limit, func() { hang(errHangs) }).Stop()
			<-ctx.Done()
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	var out, said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = home, env, &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	begun := time.Now()
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return printed{out.String(), said.String()}, time.Since(begun), err
}

// verdictOf is the verdict on a conversation: by what was printed, and by how often the tool ran.
func verdictOf(p printed, err error, ran int, plain bool) verdict {
	all := strings.Join(strings.Fields(p.out), " ")
	switch {
	case ran > 1, strings.Count(all, "It is 14") > 1:
		return double
	case errors.Is(err, errHangs):
		return hangs
	case strings.Contains(all, answer) && (ran == 1 || plain) && err == nil:
		return right
	case err != nil:
		return failed
	}
	return wrong
}

// lineOf is the line that the proxy prints when it ends.
func lineOf(text string) string {
	for line := range strings.Lines(text) {
		if said, ok := strings.CutPrefix(line, "mulligan: "); ok {
			return strings.TrimSpace(said)
		}
	}
	return ""
}
