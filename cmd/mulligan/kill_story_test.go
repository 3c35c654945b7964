package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// home is a place in which the program runs as a process of its own, against a lab.
type home struct {
	*testing.T
	dir     string
	lab     *faultlab.Lab
	env     []string
	program string // this one, built with what the tests are built with
}

func newHome(t *testing.T, script string) *home {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the program as a process of its own")
	}
	steps, err := faultlab.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	h := &home{T: t, dir: t.TempDir(), lab: faultlab.New(), program: "mulligan"}
	h.lab.Script("one", steps...)
	provider, err := h.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.lab.Close()
		_ = provider.Close()
	})
	temp, err := os.MkdirTemp("", "") // short, for sockets; a killed program leaves its own there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	h.env = []string{
		"TMPDIR=" + temp,
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "LAB_KEY=any", "NO_COLOR=1", "GORACE=" + quickExit,
		"XDG_STATE_HOME=" + filepath.Join(h.dir, "state"), server.ToolJournalEnv + "=" + filepath.Join(h.dir, "journal"),
	}
	config := fmt.Sprintf(`model: fable/one
providers:
  fable: {type: anthropic, base_url: %q, key_env: LAB_KEY}
plugins:
  - name: auto-recover
    deadline: 5s
    env: [GORACE]
    config: {retries: {delays: [10ms], jitter: 0}}
`, provider.URL())
	if err := os.WriteFile(filepath.Join(h.dir, "mulligan.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.Context(), h.program, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return cmd
}

// mulligan runs the program to its end.
func (h *home) mulligan(code int, args ...string) string {
	h.Helper()
	var stdout, stderr bytes.Buffer
	cmd := h.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		h.Fatal(err)
	}
	if got != code {
		h.Fatalf("mulligan %v: exit code %d, not %d\n%s%s", args, got, code, &stdout, &stderr)
	}
	return stdout.String()
}

// kill starts a run, kills it once a line of its JSON has the text, and gives the
// lines that it printed.
func (h *home) kill(text string, env []string, args ...string) (lines []string, pid int) {
	h.Helper()
	cmd, lines, sent, err := h.hit(syscall.SIGKILL, text, env, args)
	exit := (*exec.ExitError)(nil)
	if sent.IsZero() || !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		h.Fatalf("it was not killed: %v\n%s", err, strings.Join(lines, "\n"))
	}
	return lines, cmd.Process.Pid
}

// hit starts a run and sends it the signal, once, when a line of its JSON has the text. It
// gives the command, which has ended and whose stderr is a buffer, the lines that it
// printed, when the signal was sent, and how it ended.
func (h *home) hit(s os.Signal, text string, env, args []string) (cmd *exec.Cmd, lines []string, sent time.Time, err error) {
	h.Helper()
	cmd = h.command(append([]string{"run", "--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = new(bytes.Buffer)
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if sent.IsZero() && strings.Contains(scanner.Text(), text) {
			sent = time.Now()
			if err := cmd.Process.Signal(s); err != nil {
				h.Fatal(err)
			}
		}
	}
	return cmd, lines, sent, cmd.Wait()
}

// events are a run's, in their stored form, read anew.
func (h *home) events(run string) (lines []string, events []recovery.Event) {
	h.Helper()
	for line := range strings.Lines(h.mulligan(0, "runs", "events", run)) {
		var e recovery.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			h.Fatal(err)
		}
		lines, events = append(lines, strings.TrimSpace(line)), append(events, e)
		if e.Seq != uint64(len(events)) {
			h.Fatalf("event %d has the number %d", len(events), e.Seq)
		}
	}
	return lines, events
}

// tail is what is saved of what the run's attempt in the air has said.
func (h *home) tail(run string) string {
	h.Helper()
	store, err := sqlite.OpenReading(h.Context(), h.state())
	if err != nil {
		h.Fatal(err)
	}
	defer store.Close()
	tail, err := store.LoadTail(h.Context(), run)
	if err != nil {
		h.Fatal(err)
	}
	return tail.Text
}

// kept checks that every event that was printed is stored, word for word, and gives the run.
func (h *home) kept(printed []string) string {
	h.Helper()
	var first recovery.Event
	if err := json.Unmarshal([]byte(printed[0]), &first); err != nil {
		h.Fatal(err)
	}
	stored, _ := h.events(first.Run)
	for _, line := range printed {
		if !strings.HasPrefix(line, `{"delta":`) && !slices.Contains(stored, line) {
			h.Fatalf("lost: %s", line)
		}
	}
	return first.Run
}

func (h *home) journal() []string {
	h.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "journal"))
	if err != nil {
		h.Fatal(err)
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		word, _, _ := strings.Cut(line, " ")
		words = append(words, word)
	}
	return words
}

func (h *home) asked(want int) {
	h.Helper()
	requests := h.lab.Requests()
	for _, r := range requests {
		if r.Refused != "" {
			h.Errorf("the provider refused: %s", r.Refused)
		}
	}
	if len(requests) != want {
		h.Errorf("%d requests, not %d", len(requests), want)
	}
}

func count[B recovery.Body](events []recovery.Event) int {
	n := 0
	for _, e := range events {
		if _, ok := e.Body.(B); ok {
			n++
		}
	}
	return n
}

// stalled is the end of the last line that is printed of "stall:Hello wor", however many pieces it
// arrives in.
const stalled = `wor"}`

const weatherCall = `tool:"Let me look."+get_weather:{"city":"Oslo"}`

func TestKilledInMidStream(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	printed, _ := h.kill(stalled, nil, "--auto-recover", "hi")
	run := h.kept(printed)
	h.asked(1)
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(2)
	h.kept(printed)
	_, events := h.events(run)
	if n := count[recovery.Failed](events); n != 1 {
		t.Errorf("%d failures, not only that it was interrupted", n)
	}
	// Once more changes nothing.
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(2)
}

func TestKilledInMidStreamAsks(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	printed, _ := h.kill(stalled, nil, "hi")
	run := h.kept(printed)
	h.mulligan(3, "runs", "resume", run)
	h.asked(1) // nothing is sent that nobody chose
	if out := h.mulligan(0, "recover", run, "--action", "a1"); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(2)
	h.kept(printed)
}

func TestKilledInTheMiddleOfATool(t *testing.T) {
	t.Parallel()
	h := newHome(t, weatherCall+", answer:All good.")
	printed, _ := h.kill(`"type":"tool_began"`, []string{server.ToolDelayEnv + "=1m"}, "--tool", "get_weather", "hi")
	run := h.kept(printed)
	h.asked(1)
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(2)
	h.kept(printed)
	// It only reads, so a call whose end was lost is made again: once.
	if got := h.journal(); got[len(got)-1] != "ended" || strings.Count(strings.Join(got, " "), "ended") != 1 || len(got) > 3 {
		t.Errorf("journal %v", got)
	}
	_, events := h.events(run)
	if began, returned := count[recovery.ToolBegan](events), count[recovery.ToolReturned](events); began != 2 || returned != 1 {
		t.Errorf("%d calls began, %d returned", began, returned)
	}
}

func TestKilledAfterATool(t *testing.T) {
	t.Parallel()
	h := newHome(t, weatherCall+", stall:It is, answer:All good.")
	printed, _ := h.kill(`"text":"is"`, nil, "--auto-recover", "--tool", "get_weather", "hi")
	run := h.kept(printed)
	h.asked(2)
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(3)
	h.kept(printed)
	if got := h.journal(); !slices.Equal(got, []string{"began", "ended"}) {
		t.Errorf("a finished tool ran again: %v", got)
	}
}

func TestKilledDuringAWait(t *testing.T) {
	t.Parallel()
	h := newHome(t, "429:2s, answer:All good.")
	printed, pid := h.kill(`"type":"waiting"`, nil, "--auto-recover", "hi")
	run := h.kept(printed)
	begun := h.lab.Requests()[0].At
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(2)
	if waited := h.lab.Requests()[1].At.Sub(begun); waited < 2*time.Second {
		t.Errorf("it asked again after %s, not after the 2 s that the provider wanted", waited)
	}
	h.kept(printed)
	_, events := h.events(run)
	for _, e := range events {
		if v, ok := e.Body.(recovery.Voted); ok {
			gone(t, v.Vote.PID)
			if v.Vote.PID == pid {
				t.Errorf("the plugin voted in the program's own process")
			}
		}
	}
}

// gone checks that a plugin's process ended with its host.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) || !bytes.Contains(stat, []byte("mulligan")) {
			return
		}
	}
	t.Errorf("the plugin's process %d outlived its host", pid)
}
