package main

import (
	"fmt"
	"slices"
	"sync"
)

// mostWrong is how many errors are shown one by one.
const mostWrong = 20

// wrongs collects errors that no load excuses. It is safe for concurrent use.
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

// all returns how many there are, and the first of them.
func (w *wrongs) all() (int, []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n, slices.Clone(w.told)
}
