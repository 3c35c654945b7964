package host

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// The parent-death signal belongs to the thread that forks, not to the process, so
// all plugins are started by one thread that never ends.
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

func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan error, 1)
	spawner() <- func() { done <- cmd.Start() }
	return <-done
}
