package observe

import (
	"errors"
	"io"
	"time"
)

// trickleEvery is the least time between two reports that a part of an event has come.
const trickleEvery = time.Second

// errUnheard says that nobody reads the answer any more.
var errUnheard = errors.New("nobody listens")

// trickle reads an answer and reports bytes that complete no event, so that a stream does not count
// as silent while a long event comes in slowly.
type trickle struct {
	src  io.Reader
	tell func() bool // false = nobody reads any more
	part bool        // bytes have come since the last event
	told time.Time   // when something was last reported; zero = that was an event, and part is the next one's
}

// Read is called again without a call of heard in between if what it returned completes no event.
func (t *trickle) Read(p []byte) (int, error) {
	switch {
	case !t.part:
	case t.told.IsZero(): // a part was read just now; most events come at once, and need no clock
		t.told = time.Now()
	case time.Since(t.told) >= trickleEvery:
		t.part, t.told = false, time.Now()
		if !t.tell() {
			return 0, errUnheard
		}
	}
	n, err := t.src.Read(p)
	t.part = t.part || n > 0
	return n, err
}

// heard records that an event was reported.
func (t *trickle) heard() { t.part, t.told = false, time.Time{} }
