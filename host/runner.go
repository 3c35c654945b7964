package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const pipeGrace = procgroup.PipeGrace

// processRunner is one process, as go-plugin's runner.Runner.
type processRunner struct {
	program procgroup.Program
	process *procgroup.Process // set once it is started
	limits  Limits
	groups  func() string
	group   *controlGroup // nil = there is none
	sockets string        // where its socket must be
	stderr  *stderrLog

	first   *io.PipeReader // its first line of output, for go-plugin
	withTLS bool
	refused atomic.Pointer[error] // what is wrong with the first line
	socket  string                // its address; valid once the first line was handed on
	killed  atomic.Pointer[error] // why the host killed it
	id      atomic.Int64          // the pid; 0 before the start
	exited  chan struct{}
	swept   chan struct{} // closed a moment after the end, once no processes are left that can be found
}

func newRunner(l *launch, env []string, sockets string) *processRunner {
	return &processRunner{
		program: procgroup.Program{
			Path: l.path, Args: append([]string{l.argv0()}, l.args...), Dir: l.dir,
			Env: slices.Concat(procgroup.Environment(), l.spec.Env, env),
		},
		groups: l.folders.groups, limits: l.spec.Limits.orDefaults(), sockets: sockets, stderr: newStderrLog(l.logger, l.said, l.redact),
		withTLS: !l.spec.PlainText, exited: make(chan struct{}), swept: make(chan struct{}),
	}
}

// Start starts the process and the readers of its output. Its standard input is a pipe
// that closes when the host ends.
func (r *processRunner) Start(context.Context) (err error) {
	if r.process, r.group, err = spawn(r.program, r.limits, newControlGroup(r.groups(), r.limits)); err != nil {
		return err
	}
	r.id.Store(int64(r.process.PID()))
	first, write := io.Pipe()
	r.first = first
	go r.followStdout(r.process.Stdout, write)
	go r.stderr.follow(r.process.Stderr)
	go r.wait()
	go r.watchUsage(r.limits)
	return nil
}

// followStdout hands the first line on and drops the rest.
func (r *processRunner) followStdout(stdout io.Reader, first *io.PipeWriter) {
	in := bufio.NewReaderSize(stdout, maxLine)
	line, _ := in.ReadSlice('\n')
	if len(line) == 0 {
		_ = r.within(pipeGrace / 2) // it is most likely about to end by itself, so it is not killed for this
	}
	checked, err := checkHandshake(string(line), r.sockets, r.withTLS)
	if err != nil {
		r.refused.Store(&err)
	} else {
		r.socket = strings.Split(checked, "|")[3]
		fmt.Fprintln(first, checked)
	}
	_ = first.Close()
	_, _ = io.Copy(io.Discard, in)
}

// dial reaches the process.
func (r *processRunner) dial(ctx context.Context) (net.Conn, error) {
	return dialPatiently(ctx, &net.Dialer{}, "unix", r.socket)
}

// wait waits for the process to end, and then ends its children and what left its
// group.
func (r *processRunner) wait() {
	<-r.process.Exited()
	if r.group.outOfMemory() {
		err := fmt.Errorf("it took more than %d MiB of memory", r.limits.Memory>>20)
		r.killed.CompareAndSwap(nil, &err)
	}
	r.group.kill()
	close(r.exited)
	if r.group == nil {
		killMarked(r.sockets)
	}
	r.group.remove()
	close(r.swept)
	<-r.process.Closed()
	_ = r.first.Close()
}

// killFor kills the process and everything that it started, as far as the host can
// reach it; cause is logged.
func (r *processRunner) killFor(cause error) {
	select {
	case <-r.exited: // and its group is gone, too; the pid may be reused by now
		return
	default:
	}
	r.killed.CompareAndSwap(nil, &cause)
	if r.pid() > 0 {
		r.process.Kill()
		r.group.kill()
	}
}

func (r *processRunner) killGroup() { r.killFor(errKilled) }

// Kill kills the group and waits for the process, for at most 2 s.
func (r *processRunner) Kill(ctx context.Context) error {
	r.killGroup()
	select {
	case <-r.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Second):
		return errors.New("the plugin did not end after SIGKILL")
	}
}

// Wait waits for the process.
func (r *processRunner) Wait(ctx context.Context) error {
	select {
	case <-r.exited:
		return r.process.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endedByHost says why the host killed the process, nil if it ended by itself.
func (r *processRunner) endedByHost() error {
	var exit *exec.ExitError
	why := r.killed.Load()
	if why == nil || !r.within(0) || !errors.As(r.process.Err(), &exit) {
		return nil
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); !ok || !w.Signaled() || w.Signal() != syscall.SIGKILL {
		return nil
	}
	return *why
}

// over waits a while for everything that the process started to end, and for its last lines to be
// logged: the host closes the log after it.
func (r *processRunner) over() {
	late := time.After(stopGrace)
	for _, done := range []<-chan struct{}{r.swept, r.stderr.ended} {
		select {
		case <-done:
		case <-late:
			return
		}
	}
}

// within reports whether the process ends within the given time.
func (r *processRunner) within(d time.Duration) bool { return procgroup.Within(r.exited, d) }

// settle waits for the end of standard error, which may come slightly after the
// process's. It does not wait for a child that holds it open longer.
func (r *processRunner) settle() {
	select {
	case <-r.stderr.ended:
	case <-time.After(pipeGrace / 4):
	}
}

// PluginToHost changes nothing: the handshake was checked.
func (r *processRunner) PluginToHost(network, address string) (hostNetwork, hostAddress string, err error) {
	return network, address, nil
}

// HostToPlugin changes nothing.
func (r *processRunner) HostToPlugin(network, address string) (pluginNetwork, pluginAddress string, err error) {
	return network, address, nil
}

// Stdout returns only the first line.
func (r *processRunner) Stdout() io.ReadCloser { return r.first }

// Stderr returns nothing, because go-plugin would parse it.
func (r *processRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is the path of the executable.
func (r *processRunner) Name() string { return r.program.Path }

// ID is the process id.
func (r *processRunner) ID() string { return strconv.Itoa(r.pid()) }

// Diagnose has nothing to add to what explain says.
func (r *processRunner) Diagnose(context.Context) string { return "" }

func (r *processRunner) pid() int { return int(r.id.Load()) }
