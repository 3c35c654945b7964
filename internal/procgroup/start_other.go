//go:build !linux

package procgroup

import "os/exec"

// start starts cmd. There is no parent-death signal here: it may outlive this program.
func start(cmd *exec.Cmd, _ bool) error { return cmd.Start() }
