package host

import (
	"context"
	"sync"
	"time"
)

// calls are those in flight to one process. A process that is replaced is retired: it
// takes no new call, and those that it has may end.
type calls struct {
	mu      sync.Mutex
	n       int
	retired bool
	idle    chan struct{} // closed once it is retired and has no call
}

func newCalls() calls { return calls{idle: make(chan struct{})} }

// begin reports whether a call may be made; end follows it.
func (c *calls) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return false
	}
	c.n++
	return true
}

func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	if c.retired && c.n == 0 {
		close(c.idle)
	}
}

// drain lets no further call begin and waits for those in flight, no longer than most
// and not after ctx ends.
func (c *calls) drain(ctx context.Context, most time.Duration) {
	c.retire()
	select {
	case <-c.idle:
	case <-ctx.Done():
	case <-time.After(most):
	}
}

func (c *calls) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return
	}
	c.retired = true
	if c.n == 0 {
		close(c.idle)
	}
}
