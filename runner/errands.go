package runner

import (
	"sync"
	"time"
)

// errands are calls of Health. They may have to wait seconds for a file that another process has
// locked, so they run outside the loop, one after another, and their results are messages like any
// other.
type errands struct {
	mu      sync.Mutex
	queue   []func()
	running bool
	idle    []chan struct{} // closed when nothing is left to do
}

// add runs errand after all that were added before it.
func (e *errands) add(errand func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = append(e.queue, errand)
	if !e.running {
		e.running = true
		go e.run()
	}
}

func (e *errands) run() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			e.running = false
			for _, waiter := range e.idle {
				close(waiter)
			}
			e.idle = nil
			e.mu.Unlock()
			return
		}
		next := e.queue[0]
		e.queue = e.queue[1:]
		e.mu.Unlock()
		next()
	}
}

// done waits until nothing is left to do, but no longer than a moment.
func (e *errands) done(moment time.Duration) {
	e.mu.Lock()
	if !e.running {
		e.mu.Unlock()
		return
	}
	waiter := make(chan struct{})
	e.idle = append(e.idle, waiter)
	e.mu.Unlock()
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-waiter:
	case <-timer.C:
	}
}
