//go:build !linux

package procgroup

import "os/exec"

// Start starts cmd as the leader of a new process group, which has the number of the
// process. There is no parent-death signal here: it may outlive this program. Other
// attributes of cmd are kept.
func Start(cmd *exec.Cmd) error {
	lead(cmd)
	return cmd.Start()
}
