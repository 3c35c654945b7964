package main

import (
	"fmt"
	"slices"
	"sync"
)

// mostWrong is how many things that are wrong are told one by one.
const mostWrong = 20

// wrongs are what must not happen, however heavy the load is. Safe for concurrent use.
type wrongs struct {
	mu   sync.Mutex
	n    int
	told []string
}

func (w *wrongs) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n++; len(w.told) < mostWrong {
		w.told = append(w.told, fmt.Sprintf(format, args...))
	}
}

// all gives how many there are, and the first of them.
func (w *wrongs) all() (int, []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n, slices.Clone(w.told)
}
