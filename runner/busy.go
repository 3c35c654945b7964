package runner

import "sync"

// busy counts running functions. Unlike with a sync.WaitGroup, more may begin while somebody waits.
type busy struct {
	mu      sync.Mutex
	n       int
	waiters []chan struct{}
}

// Go runs f and counts it until it returns.
func (b *busy) Go(f func()) {
	b.begin()
	go func() {
		defer b.done()
		f()
	}()
}

// begin counts a function until done is called.
func (b *busy) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
}

func (b *busy) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n--; b.n > 0 {
		return
	}
	for _, waiter := range b.waiters {
		close(waiter)
	}
	b.waiters = nil
}

// idle gives a channel that is closed once none is running.
func (b *busy) idle() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiter := make(chan struct{})
	if b.n == 0 {
		close(waiter)
	} else {
		b.waiters = append(b.waiters, waiter)
	}
	return waiter
}
