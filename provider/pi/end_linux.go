package pi

import (
	"os/exec"
	"syscall"
)

// endWithUs has Pi told to end should we be killed: it ends its tools then, which are in
// groups of their own. Killed itself it would leave them.
func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
