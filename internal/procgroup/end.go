package procgroup

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// killGrace is how long the system has to end a killed process.
const killGrace = 5 * time.Second

// Ending is how a program and its group came to their end.
type Ending int

// The ways to end.
const (
	Ended    Ending = iota // by itself
	Stopped                // asked to, within the grace
	Killed                 // asked to, and killed after the grace
	Survived               // killed, but still there: it hangs in the kernel
)

// Wait waits until the program ends, and calls End when ctx does. Afterwards nothing is left of
// its group, unless it Survived, and the Program's writers get no more output.
func (p *Process) Wait(ctx context.Context, grace time.Duration) Ending {
	how := Ended
	select {
	case <-p.exited:
		if !p.gone(killGrace) {
			how = Survived
		}
	case <-ctx.Done():
		how = p.End(grace)
	}
	if how == Survived {
		closeAll(p.pipes)
		<-p.copied
		return how
	}
	<-p.closed
	return how
}

// End asks the whole group to end, by SIGTERM, and kills it after the grace.
func (p *Process) End(grace time.Duration) Ending {
	if Within(p.exited, 0) && !alive(p.PID()) {
		return Ended
	}
	p.mu.Lock()
	p.grace = time.Now().Add(grace)
	p.mu.Unlock()
	signal(p.PID(), syscall.SIGTERM)
	if p.gone(grace) {
		if p.wasLeft() { // its end came a moment before this was looked at
			return Killed
		}
		return Stopped
	}
	signal(p.PID(), syscall.SIGKILL)
	if p.gone(killGrace) {
		return Killed
	}
	return Survived
}

// wasLeft reports whether the program ended before the rest of its group, which was killed.
func (p *Process) wasLeft() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// gone reports whether all of the group ends within the given time.
func (p *Process) gone(most time.Duration) bool {
	const longest = 100 * time.Millisecond
	deadline := time.Now().Add(most)
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		if Within(p.exited, 0) && !alive(p.PID()) {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
}

// Ask asks only the program to end, by SIGTERM, if it ends its children itself.
func (p *Process) Ask() { _ = p.cmd.Process.Signal(syscall.SIGTERM) } // it may have ended

// Kill kills the whole group.
func (p *Process) Kill() {
	if !Within(p.exited, 0) { // or its group was killed, and the number may be another's
		signal(p.PID(), syscall.SIGKILL)
	}
}

// withoutDelay drops the error that something held the program's standard input for too
// long.
func withoutDelay(err error) error {
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
