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

// spawn starts what build makes, in a process group of its own and, where there is
// one, in the control group; where the system refuses that, without. It gives the
// control group that is used.
func spawn(build func() *exec.Cmd, limits Limits, group *controlGroup) (cmd *exec.Cmd, used *controlGroup, err error) {
	done := make(chan struct{})
	spawner() <- func() {
		defer close(done)
		keepFiles()
		cmd, err = spawnInto(build(), group)
		if err != nil && group != nil {
			group.remove()
			group = nil
			cmd, err = spawnInto(build(), nil)
		}
		if err == nil {
			limit(cmd.Process.Pid, limits)
		}
	}
	<-done
	return cmd, group, err
}

func spawnInto(cmd *exec.Cmd, group *controlGroup) (*exec.Cmd, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if group != nil {
		folder, err := os.Open(group.path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(folder.Fd())
	}
	return cmd, cmd.Start()
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
