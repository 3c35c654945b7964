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

	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

const (
	settleTime = 2 * time.Second // in which an abort settles (spec §2)
	slack      = 3 * time.Second // for a machine that has other things to do
)

// moment is when a run is cancelled: once what it waits for was seen, and a little later.
type moment struct {
	script string
	seen   func(h *house, e recovery.Body) bool // nil = nothing is waited for
	later  time.Duration
	own    bool // Pi retries by itself
}

func began(_ *house, e recovery.Body) bool { _, ok := e.(recovery.Began); return ok }

func failed(_ *house, e recovery.Body) bool { _, ok := e.(recovery.Failed); return ok }

func toolBegan(_ *house, e recovery.Body) bool { _, ok := e.(recovery.ToolBegan); return ok }

func toolReturned(_ *house, e recovery.Body) bool { _, ok := e.(recovery.ToolReturned); return ok }

func checkpointed(_ *house, e recovery.Body) bool { _, ok := e.(recovery.Checkpointed); return ok }

// moments are the moments: before, in and after everything that Pi may be doing.
var moments = map[string]moment{
	"at once":                        {script: "answer:Fine."},
	"while Pi starts":                {script: "answer:Fine.", seen: began, later: 200 * time.Millisecond},
	"before the headers":             {script: "hang", seen: began, later: 4 * time.Second},
	"in mid-stream, stalled":         {script: "stall:Half of it", seen: checkpointed},
	"in mid-stream, moving":          {script: "slow:100ms:" + strings.Repeat("word ", 100), seen: checkpointed},
	"in a tool":                      {script: `tool:bash:{"command":"sleep 1000"}`, seen: toolBegan, later: 200 * time.Millisecond},
	"in a tool with its own group":   {script: `tool:bash:{"command":"setsid sleep 1000 & sleep 1000"}`, seen: toolBegan, later: 300 * time.Millisecond},
	"in a tool that ignores SIGTERM": {script: `tool:bash:{"command":"trap '' TERM INT HUP; while true; do sleep 1; done"}`, seen: toolBegan, later: 300 * time.Millisecond},
	"after a tool left a daemon":     {script: `tool:bash:{"command":"nohup sleep 1000 >/dev/null 2>&1 & echo left"}, hang`, seen: toolReturned, later: 100 * time.Millisecond},
	"after a failure":                {script: "529", seen: failed, later: 50 * time.Millisecond},
	"in Pi's own wait":               {script: "529", seen: failed, later: 500 * time.Millisecond, own: true},
}

// An abort settles soon, whatever Pi is doing, and leaves nothing running.
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
					if err != nil || m.seen == nil || e.Event != nil && m.seen(h, e.Event.Body) {
						break
					}
				}
				time.Sleep(m.later)
				begun := time.Now()
				run.Cancel()
				result, err := run.Wait()
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

// A Pi that is killed in mid-stream is interrupted, and another goes on with the session. One
// that is killed while a tool runs leaves a call whose outcome nobody knows.
func TestKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux tells which process is Pi:", err)
	}
	kill := func(t *testing.T, h *house, run *runner.Run, seen func(*house, recovery.Body) bool) {
		t.Helper()
		for e, err := range run.Events() {
			if err != nil || e.Event != nil && seen(h, e.Event.Body) {
				break
			}
		}
		running := h.running()
		if len(running) == 0 {
			t.Fatal("no Pi runs")
		}
		_ = syscall.Kill(slices.Min(running), syscall.SIGKILL) // what it started came later
	}
	both(t, func(t *testing.T, command []string) {
		t.Run("in mid-stream", func(t *testing.T) {
			h := build(t, command, map[string]string{"one": `tool:bash:{"command":"echo danger"}, stall:Half of it, answer:Fine.`}, nil)
			run, err := h.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			kill(t, h, run, checkpointed)
			result, err := run.Wait()
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
			result, err := run.Wait()
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

// Should this program itself be killed, Pi ends, and its tools with it. One of 0.73 ends when
// its stdin does, before it is told to, and leaves them: nobody is there to do better.
func TestOrphaned(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux tells what is left:", err)
	}
	h := build(t, generations(t)["1.5"], map[string]string{"one": `tool:bash:{"command":"sleep 1000"}`}, nil)
	entry, err := json.Marshal(h.entry)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), driveOnly+"="+string(entry))
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	sleeps := func(pid int) bool { return strings.HasPrefix(commandLine(pid), "sleep") }
	for deadline := time.Now().Add(30 * time.Second); !slices.ContainsFunc(h.running(), sleeps); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no tool was run")
		}
	}
	_ = child.Process.Kill()
	_ = child.Wait() // it was killed
	h.nothingLeft()
}

// driveOnly is the variable by which the test binary drives a run of Pi's, as an entry of a
// provider.Set says, until it is killed.
const driveOnly = "MULLIGAN_TEST_DRIVE_PI"

func TestMain(m *testing.M) {
	if said := os.Getenv(driveOnly); said != "" {
		var entry provider.Entry
		if err := json.Unmarshal([]byte(said), &entry); err != nil {
			os.Exit(9)
		}
		set, err := provider.New([]provider.Entry{entry})
		if err != nil {
			os.Exit(9)
		}
		_, _ = runner.New(runner.WithModels(set, one)).Run(context.Background(), "hi") // it is killed in it
		os.Exit(0)
	}
	os.Exit(m.Run())
}
