package procgroup

import (
	"bufio"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A group lives while one of it runs, be it without its leader, and no longer.
func TestAlive(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo begun")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	err = cmd.Wait()
	group := cmd.Process.Pid
	if err != nil || strings.TrimSpace(line) != "begun" || !Alive(group) {
		t.Errorf("%v, %q, alive %v", err, line, Alive(group))
	}
	Signal(group, syscall.SIGKILL)
	for deadline := time.Now().Add(10 * time.Second); Alive(group); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it outlives SIGKILL")
		}
	}
}

// A leader that ended does not count, even before somebody waits for it.
func TestEndedIsNotAlive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has ended")
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "true")
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); Alive(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process that ended is taken for alive")
		}
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	if err := Start(exec.CommandContext(t.Context(), "/nowhere/at/all")); err == nil {
		t.Error("it started")
	}
}
