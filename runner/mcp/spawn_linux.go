package mcp

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// The parent-death signal belongs to the thread that forks, not to the process, so all
// servers are started by one thread that never ends.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// spawn starts cmd in a process group of its own; it does not outlive this process.
func spawn(cmd *exec.Cmd) (err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan struct{})
	spawner() <- func() {
		defer close(done)
		err = cmd.Start()
	}
	<-done
	return err
}
