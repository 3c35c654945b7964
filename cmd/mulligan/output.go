package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/show"
)

// output is stdout where it is no terminal. Most of what the verbs print is printed without asking
// whether it arrives; output keeps the first error, so that a full disk does not pass as success.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

// watched is stdout, and what remembers whether it was written to; nil for a terminal, which
// verbs have to recognise.
func watched(out *os.File) (io.Writer, *output) {
	if show.IsTerminal(out) {
		return out, nil
	}
	o := &output{w: out}
	return o, o
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// outcome is the error of a command that ended with err: one that has succeeded has not, if what
// it printed is lost.
func (o *output) outcome(err error) error {
	if o == nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	coded := (*exit.Error)(nil)
	switch {
	case o.err == nil, errors.As(err, &coded):
		return err
	case err != nil && !errors.Is(err, o.err):
		return err
	}
	cause := o.err
	if path := (*os.PathError)(nil); errors.As(cause, &path) {
		cause = path.Err
	}
	return &exit.Error{Code: exit.CodeFailed, Err: fmt.Errorf("not everything could be printed: %w", cause)}
}
