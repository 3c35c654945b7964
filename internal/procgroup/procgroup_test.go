package procgroup

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script is a shell program that reports on its standard output.
func script(t *testing.T, text string, env ...string) Program {
	t.Helper()
	path, err := LookUp("sh", "")
	if err != nil {
		t.Fatal(err)
	}
	return Program{Path: path, Args: []string{"sh", "-c", text}, Env: Environment(env...), Stderr: os.Stderr}
}

// begin starts it, with pipes to its standard input and output.
func begin(t *testing.T, text string, env ...string) *Process {
	t.Helper()
	p, err := Start(script(t, text, env...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End(0) })
	return p
}

// hears waits until the program prints want.
func (p *Process) hears(t *testing.T, want string) {
	t.Helper()
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); strings.TrimSpace(line) != want {
		t.Fatalf("it said %q, not %q (%v)", line, want, err)
	}
}

// Processes that a program leaves in its group end soon after it.
func TestRestOfTheGroup(t *testing.T) {
	t.Parallel()
	p := begin(t, "sleep 1000 >/dev/null 2>&1 & echo begun")
	p.hears(t, "begun")
	if how := p.Wait(t.Context(), 0); how != Ended || p.Err() != nil || alive(p.PID()) {
		t.Errorf("%v, %v, alive %v", how, p.Err(), alive(p.PID()))
	}
	if _, err := p.Stdout.Read(nil); err == nil {
		t.Error("its pipes are open")
	}
}

// A group that is asked to end has its grace period, whichever process ends first, and not more.
func TestEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		grace time.Duration
		want  Ending
	}{
		"it ends":                        {`trap 'exit 3' TERM; echo begun; while :; do sleep 0.01; done`, time.Minute, Stopped},
		"it ends before what it started": {`(trap 'sleep 0.4; exit' TERM; echo begun; while :; do sleep 0.01; done) & wait`, time.Minute, Stopped},
		"it does not end":                {`trap '' TERM; echo begun; while :; do sleep 0.01; done`, 50 * time.Millisecond, Killed},
		"what it started does not end":   {`(trap '' TERM; echo begun; while :; do sleep 0.01; done) & wait`, 50 * time.Millisecond, Killed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, test.text)
			p.hears(t, "begun")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if how := p.Wait(ctx, test.grace); how != test.want || alive(p.PID()) {
				t.Errorf("%v, alive %v", how, alive(p.PID()))
			}
			if p.End(time.Minute) != Ended {
				t.Error("it ends twice")
			}
		})
	}
}

// Output of the group while it ends is read. The output of a process outside of the group that
// holds the pipes open is not waited for.
func TestLastWords(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	program := script(t, `(trap 'sleep 0.4; echo bye; exit' TERM; echo begun >&2; while :; do sleep 0.01; done) & wait`)
	program.Stdout, program.Stderr = &out, nil
	p, err := Start(program)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stderr).ReadString('\n'); line != "begun\n" {
		t.Fatal(line, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if how := p.Wait(ctx, time.Minute); how != Stopped || out.String() != "bye\n" {
		t.Errorf("%v, %q", how, out.String())
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid:", err)
	}
	pid := make(chan string, 1)
	program = script(t, `setsid sleep 1000 & echo $! >&2`)
	program.Stdout, program.Stderr = &out, nil
	if p, err = Start(program); err != nil {
		t.Fatal(err)
	}
	go func() {
		line, _ := bufio.NewReader(p.Stderr).ReadString('\n')
		pid <- line
	}()
	if how := p.Wait(t.Context(), 0); how != Ended {
		t.Error(how)
	}
	if left, err := strconv.Atoi(strings.TrimSpace(<-pid)); err != nil || syscall.Kill(left, syscall.SIGKILL) != nil {
		t.Error("what left the group did not hold the pipes:", err)
	}
}

// A program reads its input, and one that does not read it is not waited for.
func TestStdin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"cat": "hello", "exit 0": "", "sleep 1000 & exit 0": ""} {
		var out bytes.Buffer
		program := script(t, text)
		program.Stdin, program.Stdout = io.MultiReader(strings.NewReader("hello")), &out
		if want == "" {
			program.Stdin = strings.NewReader(strings.Repeat("hello", 1<<20))
		}
		p, err := Start(program)
		if err != nil {
			t.Fatal(err)
		}
		if how := p.Wait(t.Context(), 0); how != Ended || p.Err() != nil || out.String() != want {
			t.Errorf("%s: %v, %v, %q", text, how, p.Err(), out.String())
		}
	}
}

// A group's leader that has ended does not count as alive, even before it is waited for.
func TestEndedIsNotAlive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has ended")
	}
	t.Parallel()
	cmd := script(t, "exit 0").command()
	if err := start(cmd, false); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); alive(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process that ended is taken for alive")
		}
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	if _, err := Start(Program{Path: "/nowhere/at/all"}); err == nil {
		t.Error("it started")
	}
	if _, err := LookUp("nowhere-at-all", ""); err == nil {
		t.Error("a program is found that is not there")
	}
}

// A relative path starts at the program's folder, or at our own if the program has none.
func TestLookUp(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/tool", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for program, below := range map[string]string{"./tool": dir, "tool": "", dir + "/tool": "/"} {
		path, err := LookUp(program, below)
		if program == "tool" { // a name without a slash, which is not on the PATH
			if err == nil {
				t.Errorf("%s is %s", program, path)
			}
		} else if path != dir+"/tool" || err != nil {
			t.Errorf("%s: %s, %v", program, path, err)
		}
	}
	if path, err := LookUp("./tool", ""); path != dir+"/tool" || err != nil {
		t.Error(path, err)
	}
}
