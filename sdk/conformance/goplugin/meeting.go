package main

import (
	"context"
	"sync"
)

// meeting makes calls wait for each other.
type meeting struct {
	mu      sync.Mutex
	waiting int
	full    chan struct{}
}

// meet returns once n calls are inside at the same time.
func (m *meeting) meet(ctx context.Context, n int) {
	m.mu.Lock()
	if m.waiting == 0 {
		m.full = make(chan struct{})
	}
	m.waiting++
	full := m.full
	if m.waiting == n {
		close(full)
		m.waiting = 0
	}
	m.mu.Unlock()
	select {
	case <-full:
	case <-ctx.Done():
	}
}
