package host

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// spawn starts what build makes, in a process group of its own and, where there is
// one, in the control group; where the system refuses that, and not only for want of
// descriptors or processes, without. It gives the control group that is used.
func spawn(build func() *exec.Cmd, limits Limits, group *controlGroup) (*exec.Cmd, *controlGroup, error) {
	cmd, err := spawnInto(build(), group)
	if err != nil && group != nil {
		group.remove()
		if procgroup.Scarce(err) {
			return nil, nil, err
		}
		group = nil
		cmd, err = spawnInto(build(), nil)
	}
	if err == nil {
		limit(cmd.Process.Pid, limits)
	}
	return cmd, group, err
}

func spawnInto(cmd *exec.Cmd, group *controlGroup) (*exec.Cmd, error) {
	if group != nil {
		folder, err := os.Open(group.path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }()
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	}
	return cmd, procgroup.Start(cmd)
}
