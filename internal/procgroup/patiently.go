package procgroup

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// patience is how long to wait for file descriptors or processes to start a program.
const patience = 30 * time.Second

// Patiently calls start until it succeeds, as long as this machine lacks the file descriptors,
// processes or memory for it: other programs end meanwhile. It gives up after 30 s, and when ctx
// ends, with the last error.
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
			return fmt.Errorf("%w, also when tried again (%w)", err, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// Scarce reports whether an error only says that this machine lacks some resource at the moment.
// It may be EBADF: fork fails with it if the child has no number left to move a file to, and
// nothing here ever passes a closed file.
func Scarce(err error) bool {
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EBADF, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, scarce) {
			return true
		}
	}
	return false
}
