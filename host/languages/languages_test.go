package languages

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
)

// row is a row of the catalogue of plugin faults.
type row struct {
	id, what string
	fault    string
	want     string // in the vote's error; "" = the advice counts, retry
	start    bool   // the fault is in the start
	brief    bool   // the deadline will be missed
	wrap     bool   // in a shell that does not exec
	nothing  bool   // anything but an opinion will do
}

var rows = []row{
	{id: "P01", what: "crash in the call", fault: "crash", want: "signal: aborted"},
	{id: "P02", what: "exit in the call", fault: "exit", want: "last words"},
	{id: "P03", what: "hang", fault: "hang", want: "no answer in time", brief: true},
	{id: "P04", what: "stopped", fault: "stop", want: "no answer in time", brief: true},
	{id: "P05", what: "slow", fault: "slow"},
	{id: "P06", what: "greeting on standard output", fault: "garbage", want: `"Welcome to my plugin!"`, start: true},
	{id: "P09", what: "no handshake", fault: "silent", want: "not started within 2", start: true, brief: true},
	{id: "P11", what: "service version 99", fault: "version", want: `version "99" of the plugin service, this host version 1`, start: true},
	{id: "P14", what: "1 MiB in one line on standard output", fault: "print"},
	{id: "P21", what: "a child that keeps the pipes", fault: "grandchild", want: "ended ("},
	{id: "P23", what: "a wrapper", fault: "ok", wrap: true},
	{id: "P24", what: "no way to ask it to end", fault: "deaf"},
	{id: "P31", what: "an answer that is none", fault: "nonsense", nothing: true},
}

const roomy = 20 * time.Second // for a busy machine

func TestMain(m *testing.M) {
	if command := os.Getenv("PLAY_HOST"); command != "" {
		playHost(strings.Split(command, "\n"))
	}
	os.Exit(m.Run())
}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			made := l.make(t)
			for _, r := range rows {
				t.Run(r.id+" "+r.what, func(t *testing.T) {
					t.Parallel()
					r.play(t, made)
				})
			}
			t.Run("P26 its host is killed", func(t *testing.T) {
				t.Parallel()
				killHost(t, made)
			})
		})
	}
}

func (r row) play(t *testing.T, made host.Spec) {
	dir := t.TempDir()
	h := host.New()
	t.Cleanup(func() { _ = h.Close() })
	spec := specOf(made, r.fault, dir)
	if r.brief {
		spec.Deadline = 400 * time.Millisecond
	}
	if r.wrap {
		spec.Command = append([]string{"sh", "-c", `"$0" "$@"; exit 5`}, spec.Command...)
	}
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	if !r.start {
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	deadlines := hooks.Deadlines{Each: roomy, All: roomy}
	if r.brief {
		deadlines.Start = 2 * time.Second // until it runs at all
	}
	var vote recovery.Vote
	began := time.Now()
	hooks.Dispatch(t.Context(), h.Hooks(), hooks.RunError{Run: "r"}, deadlines, func(v recovery.Vote) { vote = v })
	if took := time.Since(began); spec.Deadline > 0 && took > deadlines.Start+spec.Deadline+5*time.Second {
		t.Errorf("took %v", took)
	}
	switch {
	case r.nothing && (vote.Action != recovery.ActionNone || vote.Error == ""),
		!r.nothing && r.want == "" && (vote.Action != recovery.ActionRetry || vote.Error != ""),
		r.want != "" && (vote.Action != recovery.ActionNone || !strings.Contains(vote.Error, r.want)):
		t.Errorf("vote: %+v", vote)
	}
	if r.fault == "deaf" {
		time.Sleep(200 * time.Millisecond) // until it is
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	started := traces(t, dir)
	if len(started) == 0 {
		t.Error("nothing was started")
	}
	for _, pid := range started {
		gone(t, pid)
	}
}

func specOf(made host.Spec, fault, trace string) host.Spec {
	spec := made
	spec.Name = "faulty"
	spec.Env = append(append([]string{}, made.Env...), "FAULT="+fault, "TRACE="+trace)
	spec.Restart.First = time.Minute // one death is enough
	return spec
}

// killHost kills a host right after it has started the plugin.
func killHost(t *testing.T, made host.Spec) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "PLAY_HOST="+strings.Join(made.Command, "\n"), "PLAY_ENV="+strings.Join(made.Env, "\n"), "TRACE="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_ = syscall.Kill(child.Process.Pid, syscall.SIGKILL)
	_ = child.Wait()
	started := traces(t, dir)
	if len(started) == 0 {
		t.Errorf("no plugin: %q", line)
	}
	for _, pid := range started {
		gone(t, pid)
	}
}

// playHost is the host that is killed.
func playHost(command []string) {
	h := host.New()
	spec := specOf(host.Spec{Command: command, Env: strings.Split(os.Getenv("PLAY_ENV"), "\n")}, "ok", os.Getenv("TRACE"))
	err := h.Add(spec)
	if err == nil {
		err = h.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("started")
	time.Sleep(time.Hour)
}

// traces are the processes that left a trace in dir.
func traces(t *testing.T, dir string) (pids []int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if pid, err := strconv.Atoi(f.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone fails unless the process is gone within 20 s; one that ended and that nobody
// waited for is.
func gone(t *testing.T, pid int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		if runtime.GOOS == "linux" {
			stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
			if _, rest, _ := strings.Cut(string(stat), ") "); rest == "" || rest[0] == 'Z' {
				return
			}
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d is alive", pid)
}
