package observe

import (
	"errors"
	"io"
	"time"
)

// trickleEvery is how seldom it is told, at the most, that a part of an event has come.
const trickleEvery = time.Second

// errUnheard says that nobody wants to know any more.
var errUnheard = errors.New("nobody listens")

// trickle reads an answer and tells of bytes that complete no event, so that a stream is
// not taken for silent while a long event comes in slowly.
type trickle struct {
	src  io.Reader
	tell func() bool // false = errUnheard
	part bool        // bytes came since the last event
	told time.Time   // when something was told last
}

// Read is called again without heard in between where what it gave is no whole event.
func (t *trickle) Read(p []byte) (int, error) {
	if t.part && time.Since(t.told) >= trickleEvery {
		t.heard()
		if !t.tell() {
			return 0, errUnheard
		}
	}
	n, err := t.src.Read(p)
	t.part = t.part || n > 0
	return n, err
}

// heard notes that something is told.
func (t *trickle) heard() { t.part, t.told = false, time.Now() }
