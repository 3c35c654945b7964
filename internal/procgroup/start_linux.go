package procgroup

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// The parent-death signal belongs to the thread that forks, not to the process, so
// everything is started by one thread that never ends.
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

// start starts cmd. The kernel kills the process, not the rest of its group, when this
// program ends however it ends; one that is to end what it started is asked to instead.
func start(cmd *exec.Cmd, asked bool) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if asked {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	}
	started := make(chan error)
	spawner() <- func() {
		err := keepFiles()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}
	return <-started
}

// keepFiles marks what this program itself was given as not for its children: Go opens
// nothing that is inherited, whoever started this program may have. Where they cannot be
// listed for want of descriptors, nothing is started that might get them.
func keepFiles() error {
	files, err := os.ReadDir("/proc/self/fd")
	if Scarce(err) {
		return err
	}
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}
