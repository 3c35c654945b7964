package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// pipeGrace is how long a plugin's pipes are read after its end, in case something
// that it left behind holds them open.
const pipeGrace = 200 * time.Millisecond

// inherited are the variables that a plugin gets from its host's environment.
var inherited = []string{"PATH", "LANG", "TZ", "TMPDIR", "HOME"}

// processRunner is one process, as go-plugin's runner.Runner.
type processRunner struct {
	cmd     *exec.Cmd
	sockets string // where its socket must be
	stderr  *stderrLog

	first       *io.PipeReader // its first line of output, for go-plugin
	stdin       *os.File       // the life line
	uncertified bool           // the first line has no certificate
	id          atomic.Int64   // of the process, 0 before it is started
	exited      chan struct{}
	exitErr     error // valid once exited is closed
}

func newRunner(spec Spec, env []string, sockets string, stderr *stderrLog) *processRunner {
	cmd := exec.Command(spec.Command[0], spec.Command[1:]...) //nolint:noctx // outlives every context; killed as a group
	cmd.Dir = spec.Dir
	for _, key := range inherited {
		if value, ok := os.LookupEnv(key); ok {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
	}
	cmd.Env = append(append(cmd.Env, spec.Env...), env...)
	return &processRunner{cmd: cmd, sockets: sockets, stderr: stderr, exited: make(chan struct{})}
}

// Start starts the process and what follows its output.
func (r *processRunner) Start(context.Context) error {
	var ours, theirs [3]*os.File
	defer func() { closeAll(theirs[:]) }()
	for i := range ours {
		read, write, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return err
		}
		ours[i], theirs[i] = read, write
		if i == 0 {
			ours[i], theirs[i] = write, read
		}
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if err := spawn(r.cmd); err != nil {
		closeAll(ours[:])
		return err
	}
	r.id.Store(int64(r.cmd.Process.Pid))
	r.stdin = ours[0]
	first, write := io.Pipe()
	r.first = first
	go r.followStdout(ours[1], write)
	go r.stderr.follow(ours[2])
	go r.wait(ours)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// followStdout hands the first line on and drops the rest, for ever.
func (r *processRunner) followStdout(stdout io.Reader, first *io.PipeWriter) {
	in := bufio.NewReaderSize(stdout, maxLine)
	line, _ := in.ReadSlice('\n')
	parts := strings.Split(strings.TrimSpace(string(line)), "|")
	r.uncertified = len(parts) >= 4 && (len(parts) < 6 || len(parts[5]) <= 50)
	if len(line) > 0 {
		fmt.Fprintf(first, "%s\n", line)
	}
	_ = first.Close()
	_, _ = io.Copy(io.Discard, in)
}

// wait sees the process end, whoever holds its pipes, and ends its group.
func (r *processRunner) wait(pipes [3]*os.File) {
	r.exitErr = r.cmd.Wait()
	r.signalGroup()
	close(r.exited)
	time.Sleep(pipeGrace)
	closeAll(pipes[:])
	_ = r.first.Close()
}

// killGroup kills the process and everything it started in its group.
func (r *processRunner) killGroup() {
	select {
	case <-r.exited: // and its group with it; the number may be another's by now
		return
	default:
	}
	r.signalGroup()
}

func (r *processRunner) signalGroup() {
	if pid := r.pid(); pid > 0 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// Kill ends the group and waits for the process, no longer than 2 s.
func (r *processRunner) Kill(ctx context.Context) error {
	r.killGroup()
	select {
	case <-r.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Second):
		return errors.New("the plugin outlives SIGKILL")
	}
}

// Wait waits for the process.
func (r *processRunner) Wait(ctx context.Context) error {
	select {
	case <-r.exited:
		return r.exitErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// PluginToHost refuses every address but a socket in the plugin's own folder.
func (r *processRunner) PluginToHost(network, address string) (hostNetwork, hostAddress string, err error) {
	switch {
	case r.uncertified:
		err = errors.New("the plugin did not return a certificate: its SDK is too old, or TLS is off in it")
	case network != "unix":
		err = fmt.Errorf("the plugin listens on %.20q %.100q: only unix sockets are allowed", network, address)
	case filepath.Dir(filepath.Clean(address)) != r.sockets:
		err = fmt.Errorf("the plugin's socket %.200q is not in its folder %s", address, r.sockets)
	case len(address) > maxSocketPath:
		err = fmt.Errorf("the path of the plugin's socket has %d bytes, at most %d", len(address), maxSocketPath)
	}
	return network, address, err
}

// HostToPlugin changes nothing.
func (r *processRunner) HostToPlugin(network, address string) (pluginNetwork, pluginAddress string, err error) {
	return network, address, nil
}

// Stdout gives the first line.
func (r *processRunner) Stdout() io.ReadCloser { return r.first }

// Stderr gives nothing: go-plugin would parse it.
func (r *processRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is the path of the executable.
func (r *processRunner) Name() string { return r.cmd.Path }

// ID is the process id.
func (r *processRunner) ID() string { return strconv.Itoa(r.pid()) }

// Diagnose has nothing to add to what explain says.
func (r *processRunner) Diagnose(context.Context) string { return "" }

func (r *processRunner) pid() int { return int(r.id.Load()) }
