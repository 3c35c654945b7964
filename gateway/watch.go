package gateway

import (
	"context"
	"errors"
	"sync"
	"time"
)

// lookAgain is how often followers' credentials are checked. Together with tokenFresh it
// makes less than a second.
const lookAgain = 300 * time.Millisecond

var errNotKnown = errors.New("the follower's access was revoked")

// watch ends the streams of callers whose token was replaced or whose session has ended. A
// caller is looked up once for all of its streams.
type watch struct {
	mu      sync.Mutex
	callers map[caller]map[*context.CancelCauseFunc]bool
}

// whileKnown returns a context that ends when the caller's credentials become invalid,
// or when end is called.
func (w *watch) whileKnown(ctx context.Context, c caller, holds func(caller) (caller, bool, error)) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stream := &cancel
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.callers == nil {
		w.callers = map[caller]map[*context.CancelCauseFunc]bool{}
	}
	if w.callers[c] == nil {
		w.callers[c] = map[*context.CancelCauseFunc]bool{}
		w.lookLater(c, holds)
	}
	w.callers[c][stream] = true
	return ctx, func() {
		cancel(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.callers[c], stream)
	}
}

func (w *watch) lookLater(c caller, holds func(caller) (caller, bool, error)) {
	time.AfterFunc(lookAgain, func() {
		_, ok, err := holds(c)
		w.mu.Lock()
		defer w.mu.Unlock()
		if !ok && err == nil {
			for stream := range w.callers[c] {
				(*stream)(errNotKnown)
			}
			clear(w.callers[c])
		}
		if len(w.callers[c]) == 0 {
			delete(w.callers, c)
			return
		}
		w.lookLater(c, holds)
	})
}
