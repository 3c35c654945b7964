package procgroup

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// The parent-death signal belongs to the thread that forks, not to the process, so a single
// thread that never ends starts everything.
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

// start starts cmd. When this program ends, however it ends, the kernel kills the process, but
// not the rest of its group; with asked it gets SIGTERM instead.
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

// keepFiles keeps the files that this program was started with from its children: Go opens all
// files as close-on-exec, but whoever started this program may not have. If they cannot be listed
// for lack of file descriptors, nothing is started that might get them.
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
