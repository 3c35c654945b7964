package main

import (
	"slices"
	"sync"
	"time"
)

// times are measured durations. It is safe for concurrent use.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (t *times) add(d ...time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, d...)
}

// at returns a quantile: 0.5 is the median, 1 the maximum.
func (t *times) at(part float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == 0 {
		return 0
	}
	slices.Sort(t.all)
	return t.all[int(part*float64(len(t.all)-1))]
}

func (t *times) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// busiest is the largest number of moments within one second.
func busiest(moments []time.Time) int {
	slices.SortFunc(moments, time.Time.Compare)
	most, from := 0, 0
	for i, at := range moments {
		for at.Sub(moments[from]) >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}
