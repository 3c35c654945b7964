//go:build !linux

package host

import (
	"os/exec"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// spawn has no parent-death signal and no limits here: a plugin notices the end of its
// standard input instead.
func spawn(build func() *exec.Cmd, _ Limits, _ *controlGroup) (*exec.Cmd, *controlGroup, error) {
	cmd := build()
	return cmd, nil, procgroup.Start(cmd)
}
