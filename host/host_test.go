package host

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

func faultySpec(fault, config string, env ...string) Spec {
	env = append(env, "FAULT="+fault, "GORACE=atexit_sleep_ms=0") // the race detector's wait at the end
	return Spec{Name: "faulty", Command: []string{os.Args[0]}, Env: env, Config: []byte(config)}
}

func faultyHost(t testing.TB, fault, config string, env ...string) *Host {
	t.Helper()
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(faultySpec(fault, config, env...)); err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(t *testing.T, h *Host) (vote recovery.Vote, took time.Duration) {
	t.Helper()
	return askWithin(t, h, 0)
}

func askWithin(t *testing.T, h *Host, each time.Duration) (vote recovery.Vote, took time.Duration) {
	t.Helper()
	return askDeadlines(t, h, hooks.Deadlines{Each: each})
}

func askDeadlines(t *testing.T, h *Host, deadlines hooks.Deadlines) (vote recovery.Vote, took time.Duration) {
	t.Helper()
	began := time.Now()
	deadlines.All = 20 * time.Second
	hooks.Dispatch(t.Context(), h.Hooks(), hooks.RunError{Run: "r"}, deadlines, func(v recovery.Vote) { vote = v })
	return vote, time.Since(began)
}

// How long a busy machine is waited for.
const (
	busy     = 5 * time.Second  // what it may add to a time that is promised
	patience = 20 * time.Second // for what comes sooner or later
)

// gone fails unless the group of pid is gone soon.
func gone(t *testing.T, pid int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if !lives(pid) {
			return
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	t.Errorf("something of process group %d is alive", pid)
}

// lives reports whether a process of the group runs; one that ended and that nobody
// waited for does not.
func lives(group int) bool {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return false
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" {
			return true
		}
	}
	return len(stats) == 0
}

// traces gives the traces of the plugins that were started with TRACE=dir, by
// process id.
func traces(t *testing.T, dir string) map[int]string {
	t.Helper()
	all := map[int]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		pid, _ := strconv.Atoi(f.Name())
		trace, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[pid] = string(trace)
	}
	return all
}

func TestAGoodPlugin(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "ok", `{"n":1}`)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	vote, _ := ask(t, h)
	if vote.Action != recovery.ActionRetry || vote.Version != "1.2.3" || len(vote.Hash) != 64 || vote.PID == os.Getpid() {
		t.Errorf("%+v", vote)
	}
	if s := h.Statuses()[0]; s.State != StateReady || s.PID != vote.PID || s.P99 == 0 {
		t.Errorf("%+v", s)
	}
}

// What its start takes is not taken from the time that a plugin has for an answer.
func TestASlowStartIsNoSlowAnswer(t *testing.T) {
	t.Parallel()
	spec := faultySpec("slow start", "")
	spec.Deadline = 2 * time.Second
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	vote, took := askWithin(t, h, spec.Deadline)
	if vote.Action != recovery.ActionRetry || took < slowStart || vote.Latency.Duration() > spec.Deadline {
		t.Errorf("%+v after %v", vote, took)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "ok", `{"n":"one"}`)
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "config") {
		t.Error(err)
	}
}

func TestAnEndlessSchemaIsRefused(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "endless schema", "{}")
	started := make(chan error, 1)
	go func() { started <- h.Start(t.Context()) }()
	select {
	case err := <-started:
		if err == nil || !strings.Contains(err.Error(), "too many steps") {
			t.Error(err)
		}
	case <-time.After(startTimeout + busy):
		t.Fatal("it is still being checked") // and Close waits for the start
	}
}

func TestAKilledPluginIsStartedAgain(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	h := faultyHost(t, "exit", "")
	for range 4 {
		ask(t, h)
	}
	vote, took := ask(t, h)
	if s := h.Statuses()[0]; s.State != StateTripped || s.Restarts > (RestartPolicy{}).orDefaults().Max || took > busy || vote.Error == "" {
		t.Errorf("%+v %+v after %v", s, vote, took)
	}
}

func TestBreaker(t *testing.T) {
	b := newBreaker(BreakerPolicy{})
	now := time.Now()
	for range b.policy.After {
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
