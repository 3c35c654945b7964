package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// pipeGrace is how long a process's pipes are read after its end, in case something that
// it left behind holds them open.
const pipeGrace = 200 * time.Millisecond

// inherited are the variables that every process gets.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// process is a server that was started here, in a session and a process group of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File // closing it asks the server to end
	stdout *os.File
	stderr *procgroup.Tail
	exited chan struct{} // closed once it has ended, and its group with it
	err    error         // how it ended; valid once exited is closed
}

// startProcess starts a server's command, as soon as there are descriptors for it.
func startProcess(ctx context.Context, spec Spec) (p *process, err error) {
	err = procgroup.Patiently(ctx, func() (err error) {
		p, err = start(spec)
		return err
	})
	return p, err
}

func start(spec Spec) (*process, error) {
	path, err := spec.program()
	if err != nil {
		return nil, fmt.Errorf("its command cannot be started: %w", err)
	}
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), stdin.Close())
	}
	p := &process{stdin: stdin, stdout: stdout, stderr: procgroup.NewTail(keptStderr), exited: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: path, Args: spec.Command, Dir: spec.Dir, Env: environment(spec.Env), WaitDelay: pipeGrace,
		Stdin: theirIn, Stdout: theirOut, Stderr: p.stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // it has no terminal to ask a person at
	}
	err = procgroup.Start(p.cmd)
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, fmt.Errorf("its command cannot be started: %w", err)
	}
	go p.wait()
	return p, nil
}

// program finds what is to be started.
func (s Spec) program() (string, error) {
	program := s.Command[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(s.Dir, program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// environment is what a process gets: what every one does, and what its Spec says. The
// last one of a name counts.
func environment(own []string) []string {
	var all []string
	for _, e := range append(append([]string{}, inherited...), own...) {
		if strings.Contains(e, "=") {
			all = append(all, e)
		} else if value, ok := os.LookupEnv(e); ok {
			all = append(all, e+"="+value)
		}
	}
	return all
}

func (p *process) wait() {
	p.err = p.cmd.Wait()
	if procgroup.Alive(p.cmd.Process.Pid) { // it has left something behind
		p.signal(syscall.SIGKILL)
	}
	close(p.exited)
	time.Sleep(pipeGrace)
	_, _ = p.stdin.Close(), p.stdout.Close()
}

// signal reaches the whole group.
func (p *process) signal(sig syscall.Signal) { procgroup.Signal(p.cmd.Process.Pid, sig) }

// transport speaks to the process.
func (p *process) transport(noise func([]byte)) sdk.Transport {
	return &sdk.IOTransport{Reader: newMessages(p.stdout, noise), Writer: p.stdin, MaxLineLength: -1}
}

// stop ends the process and its group: it is asked by the end of its standard input, then
// by SIGTERM, and has that long for both; then it is killed.
func (p *process) stop(within time.Duration) {
	_ = p.stdin.Close()
	if p.ends(within / 2) {
		return
	}
	p.signal(syscall.SIGTERM)
	if p.ends(within / 2) {
		return
	}
	p.signal(syscall.SIGKILL)
	p.ends(within)
}

func (p *process) ends(within time.Duration) bool {
	select {
	case <-p.exited:
	case <-time.After(within):
	}
	return p.ended()
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// how says how it ended and what it said last.
func (p *process) how() error {
	text := "it closed its standard output"
	if p.ended() {
		text = "it ended (exit status 0)"
		if p.err != nil && !errors.Is(p.err, exec.ErrWaitDelay) {
			text = fmt.Sprintf("it ended (%v)", p.err)
		}
	}
	return p.explain(errors.New(text))
}

// explain adds what the process said last.
func (p *process) explain(err error) error {
	if said := lastSaid(p.stderr, 500); said != "" {
		return fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}
