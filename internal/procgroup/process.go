package procgroup

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// PipeGrace is how long the pipes of a program that has ended are still read: processes that it
// left behind may hold them open.
const PipeGrace = 200 * time.Millisecond

// Process is a program that was started: the leader of a session, and so of a process group,
// of its own. Once it has ended, what is left of its group is killed.
type Process struct {
	// Stdin, Stdout and Stderr are our ends of its pipes, nil where the Program names a reader or
	// writer. They are closed soon after the program's end. Many programs end when Stdin is
	// closed.
	Stdin, Stdout, Stderr *os.File

	cmd    *exec.Cmd
	pipes  []*os.File     // our ends of all pipes
	copies sync.WaitGroup // of output to the Program's writers
	copied chan struct{}  // closed once they have all of it
	exited chan struct{}
	closed chan struct{}
	err    error // how it ended; valid once exited is closed

	mu    sync.Mutex
	grace time.Time // until when its group may end by itself; zero = it was not asked to
	left  bool      // its group had not ended by then
}

// Start starts a program. On Linux the kernel kills it, but not the rest of its group, when
// this process ends for whatever reason. Otherwise the caller ends it, with Wait, End or
// Kill. The error may be Scarce.
func Start(program Program) (*Process, error) {
	p := &Process{copied: make(chan struct{}), exited: make(chan struct{}), closed: make(chan struct{})}
	theirs, err := p.prepare(program)
	if err == nil {
		err = start(p.cmd, program.AskedToEnd)
	}
	closeAll(theirs)
	if err != nil {
		closeAll(p.pipes) // which ends the copies
		return nil, err
	}
	go func() {
		p.copies.Wait()
		close(p.copied)
	}()
	go p.follow()
	return p, nil
}

// prepare makes the command and its pipes. The caller closes the pipes' other ends, whatever the
// error.
func (p *Process) prepare(program Program) (theirs []*os.File, err error) {
	p.cmd = program.command()
	if program.Stdin == nil {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.Stdin, p.cmd.Stdin = write, read
		p.pipes, theirs = append(p.pipes, write), append(theirs, read)
	}
	for _, output := range []struct {
		ours   **os.File
		theirs *io.Writer
		to     io.Writer
	}{{&p.Stdout, &p.cmd.Stdout, program.Stdout}, {&p.Stderr, &p.cmd.Stderr, program.Stderr}} {
		read, write, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		*output.theirs = write
		p.pipes, theirs = append(p.pipes, read), append(theirs, write)
		if output.to == nil {
			*output.ours = read
		} else {
			p.copies.Go(func() { _, _ = io.Copy(output.to, read) })
		}
	}
	return theirs, nil
}

// follow waits for the program's end, kills the rest of its group, and closes its pipes.
func (p *Process) follow() {
	p.err = p.cmd.Wait()
	left := p.leave()
	p.mu.Lock()
	p.left = left
	p.mu.Unlock()
	signal(p.PID(), syscall.SIGKILL) // just now its number was nobody else's
	Within(p.copied, PipeGrace)      // a process that left the group may hold the pipes
	close(p.exited)
	if p.Stdout != nil || p.Stderr != nil {
		time.Sleep(PipeGrace) // nothing says when all output has been read
	}
	closeAll(p.pipes)
	<-p.copied
	close(p.closed)
}

// leave gives the rest of the group the time that End has granted, or until its output is read,
// at most PipeGrace, and reports whether any of it still runs.
func (p *Process) leave() bool {
	const longest = 100 * time.Millisecond
	read := time.Now().Add(PipeGrace)
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		if !alive(p.PID()) {
			return false
		}
		left := time.Until(p.restUntil(read))
		if left <= 0 {
			return true
		}
		time.Sleep(min(pause, left))
	}
}

// restUntil is how long the rest of the group may live: until its output is read, unless
// it was asked to end.
func (p *Process) restUntil(read time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.grace.IsZero():
		return p.grace
	case Within(p.copied, 0):
		return time.Time{}
	}
	return read
}

// PID is the number of the process and of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed once the program has ended, its group was killed, and the Program's writers
// have what they wrote.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Closed is closed after that, once the Program's writers get nothing more and the pipes are
// closed.
func (p *Process) Closed() <-chan struct{} { return p.closed }

// Err says how the program ended, as [exec.Cmd.Wait] does; nil = well. It is valid once
// Exited is closed.
func (p *Process) Err() error { return withoutDelay(p.err) }

// State says the same in words. It is valid once Exited is closed.
func (p *Process) State() string { return p.cmd.ProcessState.String() }
