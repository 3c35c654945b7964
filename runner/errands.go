package runner

import (
	"sync"
	"time"
)

// errands are what a run has to tell and to ask of what is known about models. That may be a
// file which another process holds for seconds, and the loop has other things to do: so it
// is done beside the loop, one after the other, and what comes of it is a message like any
// other.
type errands struct {
	mu      sync.Mutex
	queue   []func()
	running bool
	idle    []chan struct{} // closed when there is nothing left to do
}

// add has something done after all that was added before.
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

// done waits until nothing is left to do, but not for longer than a moment.
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
