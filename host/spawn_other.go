//go:build !linux

package host

import (
	"os/exec"
	"syscall"
)

// spawn has no parent-death signal here: a plugin notices the end of its standard
// input instead.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}
