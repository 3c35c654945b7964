package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
)

// deafTool ignores SIGTERM, as its child does, and writes the numbers of both.
const deafTool = `
tools:
  - name: deaf
    command:
      - sh
      - -c
      - |
        trap "" TERM
        sleep 1000 &
        echo $$ $! >all
        mv all pids
        wait
    dir: .
    grace: 300ms
`

// inTool starts a run whose tool does not end, and gives the tool's processes.
func (h *home) inTool(config string) (run *exec.Cmd, stderr *bytes.Buffer, pids []int) {
	h.Helper()
	file, err := os.OpenFile(filepath.Join(h.dir, "mulligan.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		h.Fatal(err)
	}
	_, err = file.WriteString(config)
	if err := errors.Join(err, file.Close()); err != nil {
		h.Fatal(err)
	}
	run, stderr = h.command("run", "hi"), &bytes.Buffer{}
	run.Stderr = stderr
	if err := run.Start(); err != nil {
		h.Fatal(err)
	}
	var text []byte
	for deadline := time.Now().Add(20 * time.Second); text == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = run.Process.Kill()
			h.Fatalf("the tool never began\n%s", stderr)
		}
		text, _ = os.ReadFile(filepath.Join(h.dir, "pids"))
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			h.Fatal(err)
		}
		h.Cleanup(func() {
			if h.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
		pids = append(pids, pid)
	}
	return run, stderr, pids
}

func TestCtrlCInADeafTool(t *testing.T) {
	t.Parallel()
	h := newHome(t, "tool:deaf, answer:All good.")
	run, stderr, pids := h.inTool(deafTool)
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := (*exec.ExitError)(nil)
	if err := run.Wait(); !errors.As(err, &ended) || ended.ExitCode() != exit.CodeCancelled {
		t.Errorf("%v\n%s", err, stderr)
	}
	if len(pids) != 2 {
		t.Errorf("processes %v", pids)
	}
	for _, pid := range pids {
		if runs(pid) {
			t.Errorf("process %d of %v is left", pid, pids)
		}
	}
	h.asked(1)
}

func TestKilledInADeafTool(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no parent-death signal")
	}
	h := newHome(t, "tool:deaf, answer:All good.")
	run, _, pids := h.inTool(strings.NewReplacer("sleep 1000 &\n", "\n", " $!", "", "wait", "exec sleep 1000").Replace(deafTool))
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	for deadline := time.Now().Add(20 * time.Second); runs(pids[0]); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlived the program that started it", pids[0])
		}
	}
}

// runs reports whether a process runs; one that ended and nobody waited for does not.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil && runtime.GOOS != "linux" || err == nil && !bytes.Contains(stat, []byte(") Z "))
}
