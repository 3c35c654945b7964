//go:build !linux

package pi

import "os/exec"

// endWithUs does nothing here: Pi ends when its stdin does.
func endWithUs(*exec.Cmd) {}
