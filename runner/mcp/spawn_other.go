//go:build !linux

package mcp

import (
	"os/exec"
	"syscall"
)

// spawn starts cmd in a process group of its own; where this process is killed, the end
// of its standard input is what ends it.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}
