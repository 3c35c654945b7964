package command

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const (
	pipeGrace = 200 * time.Millisecond // to read what processes still write that are to be killed, or cannot be
	killGrace = 5 * time.Second        // for the system to end what was killed
)

// ending is how all of a program came to its end.
type ending int

const (
	ended    ending = iota // by itself
	stopped                // asked to, within the grace
	killed                 // asked to, and killed after the grace
	survived               // killed, and not gone: it hangs in the system
)

// running is a program that was started, and its process group.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr *output
	pipes          []*os.File    // our ends
	drained        chan struct{} // closed when both pipes are read to their end
	exited         chan struct{} // closed when the program has ended
	err            error         // of the program, once exited is closed
}

// start starts cmd in a session of its own: it has no terminal to ask a person at.
func start(cmd *exec.Cmd, stdout, stderr *output) (*running, error) {
	r := &running{cmd: cmd, stdout: stdout, stderr: stderr, drained: make(chan struct{}), exited: make(chan struct{})}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer outWrite.Close() //nolint:errcheck // the program's end; it has its own copy
	r.pipes = append(r.pipes, outRead)
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		r.close()
		return nil, err
	}
	defer errWrite.Close() //nolint:errcheck // as above
	r.pipes = append(r.pipes, errRead)
	cmd.Stdout, cmd.Stderr = outWrite, errWrite
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = pipeGrace // for stdin, where something holds it that does not read it
	if err := procgroup.Start(cmd); err != nil {
		r.close()
		return nil, err
	}
	go r.read()
	go func() {
		r.err = cmd.Wait()
		close(r.exited)
	}()
	return r, nil
}

func (r *running) close() {
	for _, f := range r.pipes {
		_ = f.Close()
	}
}

func (r *running) read() {
	var both sync.WaitGroup
	for i, into := range []*output{r.stdout, r.stderr} {
		both.Go(func() { _, _ = io.Copy(into, r.pipes[i]) })
	}
	both.Wait()
	close(r.drained)
}

// wait waits for the program, or stops it when ctx ends, and sees to it that nothing
// of its group is left. Its output does not change any more afterwards.
func (r *running) wait(ctx context.Context, grace time.Duration) ending {
	how := ended
	select {
	case <-r.exited:
		if procgroup.Alive(r.group()) {
			procgroup.Within(r.drained, pipeGrace)
		}
	case <-ctx.Done():
		how = stopped
		procgroup.Signal(r.group(), syscall.SIGTERM)
		if !r.gone(grace) {
			how = killed
		}
	}
	if !r.gone(0) {
		procgroup.Signal(r.group(), syscall.SIGKILL)
		if !r.gone(killGrace) {
			how = survived
		}
	}
	procgroup.Within(r.drained, pipeGrace) // a process that left the group may hold them
	r.close()
	<-r.drained
	return how
}

// group is the number of the process group; it is nobody else's while one of it lives.
func (r *running) group() int { return r.cmd.Process.Pid }

// gone reports whether all of the group ends within the given time.
func (r *running) gone(most time.Duration) bool {
	const longest = 100 * time.Millisecond
	deadline := time.Now().Add(most)
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		if procgroup.Within(r.exited, 0) && !procgroup.Alive(r.group()) {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
}
