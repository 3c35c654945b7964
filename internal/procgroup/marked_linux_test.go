package procgroup

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// isRunning reports whether the process has become that program.
func isRunning(pid int, program string) bool {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return err == nil && strings.TrimSpace(string(name)) == program
}

// A process of a marked program is found in a session of its own, and without its parent, until it
// has ended.
func TestMarked(t *testing.T) {
	t.Parallel()
	mark := "PROCGROUP_TEST=" + strconv.Itoa(os.Getpid())
	p := begin(t, "setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & read end || :", mark)
	line, _ := bufio.NewReader(p.Stdout).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	_ = p.Stdin.Close() // it has left the group, which ends now
	if how := p.Wait(t.Context(), 0); err != nil || how != Ended || p.Err() != nil {
		t.Fatal(line, err, how, p.Err())
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	is := func(variable string) bool { return variable == mark }
	isOther := func(variable string) bool { return variable == mark+"0" }
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // it may be about to become sleep
		found := Marked(is)
		if slices.Contains(found, pid) && isRunning(pid, "sleep") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d is not among %v", pid, found)
		}
	}
	if found := Marked(isOther); len(found) > 0 {
		t.Errorf("another mark finds %v", found)
	}
	if !EndMarked(isOther, 0) || len(Marked(is)) == 0 {
		t.Error("another is killed")
	}
	if !EndMarked(is, 10*time.Second) || len(Marked(is)) > 0 {
		t.Error("what was killed is still found")
	}
}

// A process that has just been started is ended, too, although it has no environment for a moment.
func TestMarkedFromTheStart(t *testing.T) {
	t.Parallel()
	mark := "PROCGROUP_TEST=new" + strconv.Itoa(os.Getpid())
	is := func(variable string) bool { return variable == mark }
	for range 300 {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), mark}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if marked, blank := isMarked(cmd.Process.Pid, is); !marked && !blank {
			t.Error("it is taken for another's")
		}
		EndMarked(is, 10*time.Second)
		over := make(chan error, 1)
		go func() { over <- cmd.Wait() }()
		select {
		case <-over:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			t.Fatal("it lives")
		}
	}
}
