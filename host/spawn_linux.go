package host

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
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
	spawner() <- func() {
		keepFiles()
		done <- cmd.Start()
	}
	return <-done
}

// keepFiles marks what the host itself was given as not for its plugins: Go opens
// nothing that is inherited, whoever started the host may have.
func keepFiles() {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
