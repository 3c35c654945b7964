package procgroup

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// patience is how long a program waits to be started for want of descriptors or processes.
const patience = 30 * time.Second

// Patiently starts or reaches a program, and tries again while this machine has not the
// descriptors, processes or memory for it: other programs end meanwhile. It gives up after
// 30 s, and when ctx ends, with the last error. start begins anew each time.
func Patiently(ctx context.Context, start func() error) error {
	const longest = 500 * time.Millisecond
	deadline := time.Now().Add(patience)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longest) {
		err := start()
		if !Scarce(err) || time.Now().Add(pause).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, also after a while (%w)", err, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// Scarce reports whether an error says that this machine has too little of something at the
// moment, and nothing of what was wanted. EBADF is what a fork says whose child has no number
// left to move a file to; nothing that is closed is ever given to one here.
func Scarce(err error) bool {
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EBADF, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, scarce) {
			return true
		}
	}
	return false
}
