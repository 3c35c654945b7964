package gateway

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// spare are descriptors that are kept for credentials: where connections have taken all the
// others, who asks can still be told apart.
var spare reserve

// reserve keeps descriptors of nothing.
type reserve struct {
	mu   sync.Mutex
	held []*os.File
}

// enoughSpare is for what is opened at once: a folder, and a file in it.
const enoughSpare = 4

// keep fills the reserve, as far as there are descriptors.
func (r *reserve) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill()
}

func (r *reserve) fill() {
	for len(r.held) < enoughSpare {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		r.held = append(r.held, f)
	}
}

// use opens something and closes it again; where descriptors are missing for that, it does so
// in place of the reserve. Others may be faster with what it gives up, so it tries some times.
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

// ofTheMachine reports whether an error says nothing about credentials: the machine failed
// where they were to be looked up, or the store that machines share.
func ofTheMachine(err error) bool {
	if _, ok := errors.AsType[unanswered](err); ok {
		return true
	}
	_, ok := errors.AsType[syscall.Errno](err)
	return ok && !errors.Is(err, fs.ErrNotExist)
}

// cause is an error of the machine in its own words, without the name of a file.
func cause(err error) string {
	if code, ok := errors.AsType[syscall.Errno](err); ok {
		return code.Error()
	}
	return "an error that the log tells"
}
