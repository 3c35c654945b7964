package procgroup

import (
	"errors"
	"os/exec"
	"syscall"
)

// lead makes a group for cmd, unless it gets a session, which is one as well.
func lead(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = !cmd.SysProcAttr.Setsid
}

// Signal sends a signal to every process of a group. Ask [Alive] first where the group
// may have ended: its number may be another's one day.
func Signal(group int, s syscall.Signal) { _ = syscall.Kill(-group, s) }

// Alive reports whether a process of the group still runs. On Linux one that has ended
// and that nobody waited for does not count.
func Alive(group int) bool {
	return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) && anyRuns(group)
}
