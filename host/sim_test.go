package host

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// simRuns is 0 unless the simulations are to be long: make sim.
func simRuns() int {
	n, _ := strconv.Atoi(os.Getenv("MULLIGAN_SIM_RUNS"))
	return n
}

// churned are what plugins do in the churn.
var churned = []string{
	"ok", "ok", "raw", "crash", "exit", "exit at start", "hang", "stop", "garbage", "silent", "grandchild", "setsid", "setsid and exit", "big", "flood",
}

// shortPlace makes a folder with a short path for everything that a host makes.
func shortPlace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// PL-2: hosts start and kill plugins that misbehave at random, 8 side by side, and of
// none anything is left: no process, zombie, socket, file or goroutine.
func TestSimChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	cycles := 24
	if n := simRuns(); n > 0 {
		cycles = max(500, n/4)
	}
	place, trace := shortPlace(t), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", place)
	cycle := func(fault string, after time.Duration) {
		h := New()
		if err := h.Add(faultySpec(fault, "", "TRACE="+trace)); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		hooks.Dispatch(ctx, h.Hooks(), hooks.RunError{}, hooks.Deadlines{}, func(recovery.Vote) {})
		if pid := h.Statuses()[0].PID; pid > 0 && rand.N(2) == 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	cycle("ok", time.Second) // what lives for ever is there from now on
	files, goroutines := settled(openFiles(), runtime.NumGoroutine())
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for next.Add(1) <= int64(cycles) {
				cycle(churned[rand.N(len(churned))], rand.N(600*time.Millisecond))
			}
		})
	}
	wg.Wait()
	f, g := settled(files, goroutines)
	if f > files+2 || g > goroutines+2 {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d files and %d goroutines, before %d and %d\n%s", f, g, files, goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	for pid := range traces(t, trace) {
		gone(t, pid)
	}
	if left, err := os.ReadDir(place); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	if zombies := ourZombies(); len(zombies) > 0 {
		t.Errorf("zombies: %v", zombies)
	}
}

// ourZombies are children of this process that ended and were not waited for.
func ourZombies() (pids []string) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[0] == "Z" && f[1] == itoa(os.Getpid()) {
			pids = append(pids, name)
		}
	}
	return pids
}

// PL-3: a host with four plugins, one of them behind a wrapper, is killed at any moment.
// Nothing that it has started is alive 2 s later.
func TestSimHostKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	times := 5
	if n := simRuns(); n > 0 {
		times = max(100, n/20)
	}
	place, trace := shortPlace(t), t.TempDir()
	survivors := 0
	for n := 0; n < times || survivors == 0 && n < 10*times; n++ {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FAULT=a host", "PLUGIN=four", "XDG_RUNTIME_DIR="+place, "TRACE="+trace)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, bufio.NewReader(out)) }()
		time.Sleep(rand.N(400 * time.Millisecond * time.Duration(1+n/times))) // longer where the machine is slow to begin
		_ = syscall.Kill(child.Process.Pid, syscall.SIGKILL)
		_ = child.Wait()
		for pid := range traces(t, trace) {
			if pid != child.Process.Pid {
				gone(t, pid)
				survivors++
			}
		}
		if t.Failed() {
			return
		}
		clearFolder(t, trace)
	}
	if survivors == 0 {
		t.Error("no host came to starting a plugin")
	}
	// The next host removes what they have left behind.
	entries, _ := os.ReadDir(place)
	if len(entries) == 0 {
		t.Error("killed hosts leave folders behind; this one tests nothing")
	}
	sweep(place, time.Now().Add(time.Hour))
	for _, e := range mustRead(t, place) {
		if info, err := e.Info(); err == nil {
			if _, err := os.Stat(filepath.Join(place, info.Name(), ownerFile)); err == nil {
				t.Errorf("left over: %s", e.Name())
			}
		}
	}
}

func mustRead(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func clearFolder(t *testing.T, dir string) {
	t.Helper()
	for _, e := range mustRead(t, dir) {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}
