package gateway

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// reserved are descriptors reserved for checking credentials, so that callers can be
// authenticated even when connections have taken all the others.
var reserved reserve

// reserve holds descriptors that are open on nothing useful.
type reserve struct {
	mu   sync.Mutex
	held []*os.File
}

// enoughReserved is how many one check needs at a time: a folder, a file in it, and some
// to spare.
const enoughReserved = 4

// keep fills the reserve, as far as there are descriptors.
func (r *reserve) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill()
}

func (r *reserve) fill() {
	for len(r.held) < enoughReserved {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		r.held = append(r.held, f)
	}
}

// use calls open, which opens something and closes it again. If descriptors run out, it frees
// the reserve and tries again, a few times, because others may take what it freed.
func (r *reserve) use(open func() error) error {
	const tries = 3
	err := open()
	for n := 0; n < tries && noDescriptors(err); n++ {
		r.mu.Lock()
		for _, f := range r.held {
			_ = f.Close() // nothing was read
		}
		r.held = nil
		err = open()
		r.fill()
		r.mu.Unlock()
	}
	return err
}

func noDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// ofTheMachine reports whether an error says nothing about credentials, because the
// machine, or the store that machines share, failed to look them up.
func ofTheMachine(err error) bool {
	if _, ok := errors.AsType[unanswered](err); ok {
		return true
	}
	_, ok := errors.AsType[syscall.Errno](err)
	return ok && !errors.Is(err, fs.ErrNotExist)
}

// cause is the text of a system error without the file's name.
func cause(err error) string {
	if code, ok := errors.AsType[syscall.Errno](err); ok {
		return code.Error()
	}
	return "an error that the log tells"
}
