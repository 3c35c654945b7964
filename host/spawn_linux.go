package host

import (
	"os"
	"syscall"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// spawn starts a program in the control group, if there is one. If the system refuses that for
// a reason other than a lack of descriptors or processes, it starts the program without. It
// returns the group that is used.
func spawn(program procgroup.Program, limits Limits, group *controlGroup) (*procgroup.Process, *controlGroup, error) {
	p, err := spawnInto(program, group)
	if err != nil && group != nil {
		group.remove()
		if procgroup.Scarce(err) {
			return nil, nil, err
		}
		group = nil
		p, err = spawnInto(program, nil)
	}
	if err == nil {
		limit(p.PID(), limits)
	}
	return p, group, err
}

func spawnInto(program procgroup.Program, group *controlGroup) (*procgroup.Process, error) {
	if group != nil {
		folder, err := os.Open(group.path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }()
		program.Attributes = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	}
	return procgroup.Start(program)
}
