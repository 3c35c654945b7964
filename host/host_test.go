package host

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

func faultyHost(t testing.TB, fault string, config string) *Host {
	t.Helper()
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	spec := Spec{Name: "faulty", Command: []string{os.Args[0]}, Env: []string{"FAULT=" + fault}, Config: []byte(config)}
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(t *testing.T, h *Host) (vote recovery.Vote, took time.Duration) {
	t.Helper()
	began := time.Now()
	hooks.Dispatch(t.Context(), h.Hooks(), hooks.RunError{Run: "r"}, hooks.Deadlines{}, func(v recovery.Vote) { vote = v })
	return vote, time.Since(began)
}

// gone fails unless the group of pid is gone soon.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 200 {
		if err := syscall.Kill(-pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("something of process group %d is alive", pid)
}

func TestFaultsAreVotes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for fault, want := range map[string]string{
		"panic":         "panic: boom",
		"crash":         "panic: boom",
		"exit":          "exit status 3",
		"exit at start": "exit status 3",
		"hang":          "no answer",
		"silent":        "no answer",
		"garbage":       "Welcome to my plugin!",
		"tcp":           "only unix sockets",
		"uncertified":   "did not return a certificate",
		"big":           "larger than max",
		"utf-8":         "",
		"enum":          "unknown action",
		"negative":      "negative delay_ms",
		"flood":         "",
		"grandchild":    "exit status 4",
		"stop":          "no answer",
		"ok":            "",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			h := faultyHost(t, fault, `{}`)
			vote, took := ask(t, h)
			if took > 2500*time.Millisecond {
				t.Errorf("took %v", took)
			}
			if want == "" && (vote.Error != "" && fault != "utf-8") || !strings.Contains(vote.Error, want) {
				t.Errorf("vote: %+v", vote)
			}
			if want != "" && vote.Action != recovery.ActionNone {
				t.Errorf("an opinion: %+v", vote)
			}
			began := time.Now()
			if err := h.Close(); err != nil || time.Since(began) > 5*time.Second {
				t.Errorf("close: %v after %v", err, time.Since(began))
			}
			if vote.PID != 0 {
				gone(t, vote.PID)
			}
		})
	}
}

func TestAGoodPlugin(t *testing.T) {
	t.Setenv("CANARY_KEY", "secret")
	h := faultyHost(t, "environment", `{"n":1}`)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	vote, _ := ask(t, h)
	if vote.Action != recovery.ActionRetry || vote.Version != "1.2.3" || len(vote.Hash) != 64 || vote.PID == os.Getpid() {
		t.Errorf("%+v", vote)
	}
	if strings.Contains(vote.Reason, "CANARY") {
		t.Error("the plugin sees the host's environment")
	}
	if s := h.Statuses()[0]; s.State != StateReady || s.PID != vote.PID || s.P99 == 0 {
		t.Errorf("%+v", s)
	}
}

func TestConfigIsChecked(t *testing.T) {
	h := faultyHost(t, "ok", `{"n":"one"}`)
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "config") {
		t.Error(err)
	}
}

func TestAKilledPluginIsStartedAgain(t *testing.T) {
	h := faultyHost(t, "ok", "")
	first, _ := ask(t, h)
	_ = syscall.Kill(first.PID, syscall.SIGKILL)
	gone(t, first.PID)
	second, _ := ask(t, h)
	if second.Action != recovery.ActionRetry || second.PID == first.PID {
		t.Errorf("%+v", second)
	}
	if s := h.Statuses()[0]; s.Restarts != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAPluginThatAlwaysDiesIsDisabled(t *testing.T) {
	h := faultyHost(t, "exit", "")
	for range 4 {
		ask(t, h)
	}
	vote, took := ask(t, h)
	if s := h.Statuses()[0]; s.State != StateTripped || s.Restarts > maxRestarts || took > 100*time.Millisecond || vote.Error == "" {
		t.Errorf("%+v %+v after %v", s, vote, took)
	}
}

func TestBreaker(t *testing.T) {
	var b breaker
	now := time.Now()
	for range breakAfter {
		if !b.allow(now) {
			t.Fatal("open too early")
		}
		b.failed(now)
	}
	if b.allow(now.Add(59 * time.Second)) {
		t.Error("not open")
	}
	now = now.Add(time.Minute)
	if !b.allow(now) || b.allow(now) {
		t.Error("not one probe")
	}
	b.failed(now)
	if b.openFor != 2*time.Minute || b.allow(now.Add(119*time.Second)) {
		t.Errorf("%+v", b)
	}
	if !b.allow(now.Add(2 * time.Minute)) {
		t.Error("no second probe")
	}
	b.succeeded()
	if !b.allow(now) || b.failures != 0 {
		t.Errorf("%+v", b)
	}
}
