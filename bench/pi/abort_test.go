package pi

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/provider/pi/pitest"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

const (
	settleTime = 2 * time.Second // in which an abort settles (spec §2)
	slack      = 3 * time.Second // for a busy machine
)

// moment is when a run is cancelled: a little after something was seen.
type moment struct {
	script string
	seen   func(h *harness, e recovery.Body) bool // nil = at once
	later  time.Duration
	own    bool // Pi's own retries are on
}

func began(_ *harness, e recovery.Body) bool { _, ok := e.(recovery.Began); return ok }

func failed(_ *harness, e recovery.Body) bool { _, ok := e.(recovery.Failed); return ok }

func toolBegan(_ *harness, e recovery.Body) bool { _, ok := e.(recovery.ToolBegan); return ok }

func toolReturned(_ *harness, e recovery.Body) bool { _, ok := e.(recovery.ToolReturned); return ok }

// speaks recognizes live text, which has no event.
func speaks(_ *harness, e recovery.Body) bool { return e == nil }

func bodyOf(item timeline.Item) recovery.Body {
	if item.Event == nil {
		return nil
	}
	return item.Event.Body
}

// moments are before, in and after everything that Pi may be doing.
var moments = map[string]moment{
	"at once":                        {script: "answer:Fine."},
	"while Pi starts":                {script: "answer:Fine.", seen: began, later: 200 * time.Millisecond},
	"before the headers":             {script: "hang", seen: began, later: 4 * time.Second},
	"in mid-stream, stalled":         {script: "stall:Half of it", seen: speaks},
	"in mid-stream, moving":          {script: "slow:100ms:" + strings.Repeat("word ", 100), seen: speaks},
	"in a tool":                      {script: `tool:bash:{"command":"sleep 1000"}`, seen: toolBegan, later: 200 * time.Millisecond},
	"in a tool with its own group":   {script: `tool:bash:{"command":"setsid sleep 1000 & sleep 1000"}`, seen: toolBegan, later: 300 * time.Millisecond},
	"in a tool that ignores SIGTERM": {script: `tool:bash:{"command":"trap '' TERM INT HUP; while true; do sleep 1; done"}`, seen: toolBegan, later: 300 * time.Millisecond},
	"after a tool left a daemon":     {script: `tool:bash:{"command":"nohup sleep 1000 >/dev/null 2>&1 & echo left"}, hang`, seen: toolReturned, later: 100 * time.Millisecond},
	"after a failure":                {script: "529", seen: failed, later: 50 * time.Millisecond},
	"in Pi's own wait":               {script: "529", seen: failed, later: 500 * time.Millisecond, own: true},
}

// An abort settles soon, whatever Pi is doing, and leaves no process.
func TestAbort(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		for name, m := range moments {
			t.Run(name, func(t *testing.T) {
				h := build(t, command, map[string]string{"one": m.script}, func(e *provider.Engine) {
					if m.own {
						e.Retries = "pi"
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				run, err := h.Start(ctx, runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				for e, err := range run.Events() {
					if err != nil || m.seen == nil || m.seen(h, bodyOf(e)) {
						break
					}
				}
				time.Sleep(m.later)
				begun := time.Now()
				run.Cancel()
				result, err := run.Wait(t.Context())
				took := time.Since(begun)
				if !errors.Is(err, runner.ErrCancelled) || result.Status != recovery.StatusCancelled {
					t.Errorf("%+v, %v", result, err)
				}
				left := h.running()
				t.Logf("settled after %v, %d left", took.Round(time.Millisecond), len(left))
				if took > settleTime+slack {
					t.Errorf("it settled after %v", took)
				}
				h.nothingLeft()
			})
		}
	})
}

// If Pi is killed while it streams, the attempt is interrupted, and another Pi continues the
// session. If it is killed while a tool runs, nobody knows the call's outcome.
func TestKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux tells which process is Pi:", err)
	}
	kill := func(t *testing.T, h *harness, run *runner.Run, seen func(*harness, recovery.Body) bool) {
		t.Helper()
		for e, err := range run.Events() {
			if err != nil || seen(h, bodyOf(e)) {
				break
			}
		}
		running := h.running()
		if len(running) == 0 {
			t.Fatal("no Pi runs")
		}
		_ = syscall.Kill(slices.Min(running), syscall.SIGKILL) // Pi itself; what it started has higher ids
	}
	both(t, func(t *testing.T, command []string) {
		t.Run("in mid-stream", func(t *testing.T) {
			h := build(t, command, map[string]string{"one": `tool:bash:{"command":"echo danger"}, stall:Half of it, answer:Fine.`}, nil)
			run, err := h.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			kill(t, h, run, speaks)
			result, err := run.Wait(t.Context())
			if err != nil || result.Text != "Fine." {
				t.Fatalf("%+v, %v", result, err)
			}
			requests := h.lab.Requests()
			if last := string(requests[len(requests)-1].Body); len(requests) != 3 || !strings.Contains(last, `danger\n`) || strings.Contains(last, "Half") {
				t.Errorf("%d requests, the last: %s", len(requests), last)
			}
		})
		t.Run("in a tool", func(t *testing.T) {
			h := build(t, command, map[string]string{"one": `tool:bash:{"command":"sleep 1000"}, answer:Fine.`}, nil)
			run, err := h.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			kill(t, h, run, toolBegan)
			result, err := run.Wait(t.Context())
			unknown := 0
			for e, err := range run.Events() {
				if err != nil {
					break
				}
				if e.Event == nil {
					continue
				}
				if body, ok := e.Event.Body.(recovery.ToolReturned); ok && body.Outcome == recovery.OutcomeUnknown {
					unknown++
				}
			}
			if unknown != 1 {
				t.Errorf("%+v, %v: %d outcomes are not known", result, err, unknown)
			}
		})
	})
}

// If this program itself is killed, Pi and its tools end. Pi 0.73 ends when its stdin is closed,
// before it is told to, and leaves its tools running: see TestResumed.
func TestOrphaned(t *testing.T) {
	h := build(t, pitest.Real(t, root)["1.5"], map[string]string{"one": `tool:bash:{"command":"sleep 1000"}`}, nil)
	child := h.driveElsewhere(1)
	_ = child.Process.Kill()
	_ = child.Wait() // it was killed
	h.nothingLeft()
}

// What a Pi leaves running after its Mulligan was killed is ended before the run continues in the
// next Mulligan that uses the folder. While its own Mulligan lives, it is left alone.
func TestResumed(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		h := build(t, command, map[string]string{"one": `tool:bash:{"command":"setsid sleep 1000 & sleep 1000"}, answer:Fine.`}, nil)
		child := h.driveElsewhere(2)
		again := h.again()
		if left := h.sleeping(); len(left) != 2 {
			t.Errorf("%v are left of a Pi whose Mulligan lives", left)
		}
		_ = child.Process.Kill()
		_ = child.Wait() // it was killed
		isPi := func(pid int) bool { return strings.Contains(commandLine(pid), " --mode rpc ") }
		for deadline := time.Now().Add(10 * time.Second); slices.ContainsFunc(h.running(), isPi); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("Pi does not end")
			}
		}
		left := h.sleeping()
		t.Logf("%d commands are left", len(left))
		if len(left) == 0 {
			t.Fatal("nothing is left to be ended")
		}
		run, err := again.Resume(t.Context(), h.theRun())
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "Fine." {
			t.Errorf("%+v, %v", result, err)
		}
		h.nothingLeft()
	})
}

// driveElsewhere has another process drive a run until so many commands sleep.
func (h *harness) driveElsewhere(commands int) *exec.Cmd {
	h.t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		h.t.Skip("only Linux tells what is left:", err)
	}
	said, err := json.Marshal(elsewhereRun{Entry: h.entry, State: h.state})
	if err != nil {
		h.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	child := exec.CommandContext(h.t.Context(), self)
	child.Env = append(os.Environ(), driveOnly+"="+string(said))
	if err := child.Start(); err != nil {
		h.t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); len(h.sleeping()) < commands; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatal("no tool was run")
		}
	}
	return child
}

// sleeping are the harness's commands that sleep.
func (h *harness) sleeping() []int {
	return slices.DeleteFunc(h.running(), func(pid int) bool { return !strings.HasPrefix(commandLine(pid), "sleep") })
}

// again builds a new runner on the harness's state, as a restarted Mulligan does.
func (h *harness) again() *runner.Runner {
	h.t.Helper()
	store, err := sqlite.Open(h.t.Context(), h.state)
	if err != nil {
		h.t.Fatal(err)
	}
	set, err := provider.New([]provider.Entry{h.entry})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		set.Close()
		_ = store.Close()
	})
	return drive(set, store)
}

// drive makes a runner that recovers automatically from everything that it can.
func drive(set *provider.Set, store timeline.Log) *runner.Runner {
	return runner.New(runner.WithModels(set, one), runner.WithLog(store), runner.WithAutoRecover(true), runner.WithHook("advice", hooks.Func(advise)))
}

// theRun is the only run in the harness's state.
func (h *harness) theRun() string {
	h.t.Helper()
	store, err := sqlite.Open(h.t.Context(), h.state)
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	runs, err := store.List(h.t.Context(), timeline.Query{})
	if err != nil || len(runs) != 1 {
		h.t.Fatal(runs, err)
	}
	return runs[0].Run
}

// driveOnly is the variable that has the test binary drive a run of Pi's until it is killed.
const driveOnly = "MULLIGAN_TEST_DRIVE_PI"

// elsewhereRun is what that process drives.
type elsewhereRun struct {
	Entry provider.Entry
	State string // folder of the store
}

func TestMain(m *testing.M) {
	if said := os.Getenv(driveOnly); said != "" {
		var r elsewhereRun
		if err := json.Unmarshal([]byte(said), &r); err != nil {
			os.Exit(9)
		}
		set, err := provider.New([]provider.Entry{r.Entry})
		if err != nil {
			os.Exit(9)
		}
		store, err := sqlite.Open(context.Background(), r.State)
		if err != nil {
			os.Exit(9)
		}
		_, _ = drive(set, store).Run(context.Background(), "hi") // the process is killed meanwhile
		os.Exit(0)
	}
	os.Exit(m.Run())
}
