package procgroup

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// patience is how long a program waits to be started for want of descriptors or processes.
const patience = 30 * time.Second

// Patiently starts something, and tries again while this machine has not the descriptors,
// processes or memory for it: other programs end meanwhile. It gives up after 30 s, and when
// ctx ends, with the last error.
func Patiently(ctx context.Context, start func() error) error {
	const longest = 500 * time.Millisecond
	deadline := time.Now().Add(patience)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longest) {
		err := start()
		if !isScarce(err) || time.Now().Add(pause).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

func isScarce(err error) bool {
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, scarce) {
			return true
		}
	}
	return false
}
