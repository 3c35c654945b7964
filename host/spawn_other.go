//go:build !linux

package host

import "github.com/mulligan-run/mulligan/internal/procgroup"

// spawn sets no limits on this system.
func spawn(program procgroup.Program, _ Limits, _ *controlGroup) (*procgroup.Process, *controlGroup, error) {
	p, err := procgroup.Start(program)
	return p, nil, err
}
