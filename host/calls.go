package host

import (
	"context"
	"sync"
	"time"
)

// calls counts the calls in flight to one process. A process that is replaced is
// retired: it takes no new calls, and those it has may finish.
type calls struct {
	mu      sync.Mutex
	n       int
	retired bool
	idle    chan struct{} // closed once it is retired and has no calls
}

func newCalls() calls { return calls{idle: make(chan struct{})} }

// begin reports whether a call may be made; if so, end must follow.
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

// drain refuses further calls and waits for those in flight, for most at the longest
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
