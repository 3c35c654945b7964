//go:build !linux

package host

import (
	"os/exec"
	"syscall"
)

// spawn has no parent-death signal and no limits here: a plugin notices the end of its
// standard input instead.
func spawn(build func() *exec.Cmd, _ Limits, _ *controlGroup) (*exec.Cmd, *controlGroup, error) {
	cmd := build()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil, cmd.Start()
}
