package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// background is a "mulligan serve" in the background.
type background struct {
	*home
	cmd *exec.Cmd

	mu  sync.Mutex
	out bytes.Buffer
}

// Write takes what it prints.
func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *background) printed() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

func (h *home) serve(args ...string) *background {
	h.Helper()
	b := &background{home: h, cmd: h.command(append([]string{"serve"}, args...)...)}
	b.cmd.Stdout, b.cmd.Stderr = b, b
	if err := b.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = b.cmd.Process.Kill() })
	return b
}

// prints waits until it has printed the text.
func (b *background) prints(text string) {
	b.Helper()
	b.until("it prints "+text, func() bool { return strings.Contains(b.printed(), text) })
}

func (b *background) until(what string, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("not in 30 s: %s\n%s", what, b.printed())
		}
	}
}

// stop ends it as a service manager does, which would kill it after 10 s.
func (b *background) stop() {
	b.Helper()
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	defer time.AfterFunc(10*time.Second, func() { _ = b.cmd.Process.Kill() }).Stop()
	if err := b.cmd.Wait(); err != nil {
		b.Fatalf("serve: %v\n%s", err, b.printed())
	}
}

// park writes a run into the store that waits until then.
func (h *home) park(run string, until time.Time) {
	h.Helper()
	store, err := sqlite.Open(h.Context(), filepath.Join(h.dir, "state", "mulligan"))
	if err != nil {
		h.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			h.Error(err)
		}
	}()
	lease, err := store.Claim(h.Context(), run, "test", time.Minute)
	if err != nil {
		h.Fatal(err)
	}
	at := until.Add(-2 * time.Hour)
	policy := recovery.DefaultPolicy()
	policy.AutoRecover, policy.Models = true, []string{"fable/one"}
	quota := failure.NewFailure(failure.KindQuota, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	quota.ResetsAt = until
	for i, body := range []recovery.Body{
		recovery.Started{Model: "fable/one", Input: []llm.Message{llm.User("hi")}, Policy: policy},
		recovery.Claimed{Owner: "test", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "fable/one"},
		recovery.Failed{Attempt: 1, Failure: *quota},
		recovery.Decided{Occasion: "run_error/4", Decision: recovery.Decision{Action: recovery.ActionRetry, Delay: failure.InMillis(2 * time.Hour)}},
		recovery.Waiting{ID: run + "-w4", For: recovery.WaitReset, Until: until, Model: "fable/one", Retry: 1, Of: 3},
	} {
		event := recovery.Event{Run: run, Seq: uint64(i) + 1, Time: at, Body: body}
		if err := store.Append(h.Context(), lease, uint64(i), event); err != nil {
			h.Fatal(err)
		}
	}
}

func TestServeGoesOnWhenTheTimeHasCome(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:All good.")
	until := time.Now().Add(2 * time.Second)
	h.park("r1", until)
	h.park("r2", until.Add(time.Hour))
	if out := h.mulligan(0, "runs", "list", "--waiting"); strings.Index(out, "r1") > strings.Index(out, "r2") {
		t.Errorf("waiting runs:\n%s", out)
	}
	b := h.serve("--json")
	b.prints(`"msg":"completed","run":"r1"`)
	b.stop()
	for line := range strings.Lines(b.printed()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil && !strings.HasPrefix(line, "Stopping") {
			t.Errorf("it logs %q: %v", line, err)
		}
	}
	h.asked(1)
	if at := h.lab.Requests()[0].At; at.Before(until) {
		t.Errorf("it asked %s too early", until.Sub(at))
	}
	if out := h.mulligan(0, "runs", "list", "--waiting", "--json"); !strings.Contains(out, `"run":"r2"`) || strings.Contains(out, "r1") ||
		!strings.Contains(out, `"waitingFor":"reset"`) || !strings.Contains(out, fmt.Sprintf("%q", until.Add(time.Hour).UTC().Format(time.RFC3339Nano))) {
		t.Errorf("waiting runs:\n%s", out)
	}
}

func TestServeGoesOnWithAKilledRun(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	b := h.serve()
	printed, _ := h.kill(stalled, nil, "--auto-recover", "hi")
	run := h.kept(printed)
	b.prints("msg=completed run=" + run)
	b.stop()
	h.asked(2)
	h.kept(printed)
	_, events := h.events(run)
	if n := count[recovery.Failed](events); n != 1 {
		t.Errorf("%d failures, not only that it was interrupted", n)
	}
}

func TestServeLetsGoOfARunAndAnotherGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, stall:Hello wor, answer:All good.")
	printed, _ := h.kill(stalled, nil, "--auto-recover", "hi")
	run := h.kept(printed)
	first := h.serve()
	first.until("its text is durable", func() bool {
		return len(h.lab.Requests()) == 2 && h.tail(run) == "Hello wor"
	})
	first.stop()
	first.prints("msg=let_go run=" + run)
	second := h.serve()
	second.prints("msg=completed run=" + run)
	second.stop()
	h.asked(3)
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
}

func TestResumeAll(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:One., 401")
	h.park("r1", time.Now().Add(-2*time.Second))
	h.park("r2", time.Now().Add(-time.Second))
	h.park("r3", time.Now().Add(time.Hour))
	out := h.mulligan(1, "runs", "resume", "--all")
	if !strings.Contains(out, "completed") || !strings.Contains(out, "asking") || strings.Contains(out, "r3") {
		t.Errorf("it says\n%s", out)
	}
	h.asked(2)
	if out := h.mulligan(0, "runs", "resume", "--all", "--json"); out != "" {
		t.Errorf("and then\n%s", out)
	}
}

// TestServeNamesWhatIsWrong: what only the configuration can tell of a request is named as
// well as what its schema can, and nothing of it breaks the gateway.
func TestServeNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := newHome(t, "answer:All good.").serveHTTP()
	for _, wrong := range []struct{ method, path, body, says string }{
		{"POST", "/v1/runs", `{"prompt":"hi","budget":{"microdollars":100}}`, `no price of fable/one`},
		{"POST", "/v1/runs", `{"prompt":"hi","model":"nobody/one"}`, `"body.model"`},
		{"POST", "/v1/runs", `{"prompt":"hi","fallbacks":["nobody"]}`, `"body.fallbacks[0]"`},
		{"POST", "/v1/runs", `{"prompt":"hi","timeouts":{"idle":5}}`, `"body.timeouts"`},
		{"PUT", "/v1/sessions/s1", `{"model":"nobody/one"}`, `"body.model"`},
	} {
		if code, said := c.ask(wrong.method, wrong.path, wrong.body); code != http.StatusUnprocessableEntity || !strings.Contains(said, wrong.says) {
			t.Errorf("%s %s %s: %d %s", wrong.method, wrong.path, wrong.body, code, said)
		}
	}
	c.stop()
}

// TestI52AcceptedIsDone: what the gateway answers 202 to is done, whatever the run is just
// about to settle as.
func TestI52AcceptedIsDone(t *testing.T) {
	t.Parallel()
	c, location := newHome(t, "529").serveHTTP(), regexp.MustCompile(`/v1/runs/r\w+`)
	for n := range 30 {
		code, said := c.ask("POST", "/v1/runs", `{"prompt":"hi"}`)
		run := location.FindString(said)
		if code != http.StatusCreated || run == "" {
			t.Fatalf("start: %d %s", code, said)
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
		if code, said := c.ask("POST", run+"/cancel", ""); code != http.StatusAccepted || !strings.Contains(said, `"status":"cancelled"`) {
			t.Errorf("I52: cancel %d ms after the start: %d %.300s", n, code, said)
		}
	}
	c.stop()
}
