package health

import (
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// How fast calls of a provider entry in trouble are made.
const (
	pacedFor = 30 * time.Second
	// paceEvery is a little more than a 200th of a second, so that no second has 200 calls even if
	// some are late.
	paceEvery = time.Second / 160
)

// pace gives turns, one after another, to the calls of provider entries that are in trouble. It
// belongs to this process and uses the monotonic clock. If other processes share the work, it gives
// only this process's share.
type pace struct {
	mu      sync.Mutex
	sharing int // processes; 0 = this one alone
	entries map[string]*turns
}

type turns struct {
	until time.Time // calls are paced until then
	next  time.Time // the next free turn
}

// troubled reports whether f says that a provider is overloaded or down, which many runs notice at
// the same moment.
func troubled(f failure.Failure) bool {
	switch f.Kind {
	case failure.KindRateLimit, failure.KindOverloaded, failure.KindUnavailable:
		return f.Timer == ""
	}
	return false
}

// failed paces the calls of an entry from now on.
func (p *pace) failed(entry string, f failure.Failure) {
	if entry == "" || !troubled(f) {
		return
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.entries[entry]
	if t == nil {
		p.forget(now)
		t = &turns{next: now}
		p.entries[entry] = t
	}
	t.until = now.Add(pacedFor)
}

// forget drops entries that are over, and all of them if there are too many.
func (p *pace) forget(now time.Time) {
	for entry, t := range p.entries {
		if now.After(t.until) {
			delete(p.entries, entry)
		}
	}
	if p.entries == nil || len(p.entries) >= maxRecords {
		p.entries = map[string]*turns{}
	}
}

// share divides the rate by the number of processes.
func (p *pace) share(processes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sharing = processes
}

// Queued is how many calls of a provider entry are waiting for their turn in this process now.
func (h *Health) Queued(entry string) int {
	h.pace.mu.Lock()
	defer h.pace.mu.Unlock()
	t := h.pace.entries[entry]
	if t == nil {
		return 0
	}
	every := h.pace.every()
	return int(max(0, time.Until(t.next)-1) / every) // t.next is the turn after the last one given
}

// every is how long one turn of this process takes. The caller holds mu.
func (p *pace) every() time.Duration { return paceEvery * time.Duration(max(1, p.sharing)) }

// Turn takes the next turn to call model (a full name), and says how long to wait for it. That is 0
// unless its provider entry failed in the last 30 s because it is overloaded or down. Then all
// calls of the entry come one after another, at most 160 per second, because those that failed
// together would come back together. Machines that share a Store share these 160.
func (h *Health) Turn(model string) time.Duration {
	h.pace.mu.Lock()
	defer h.pace.mu.Unlock()
	now := time.Now()
	t := h.pace.entries[entryOf(model)]
	if t == nil || now.After(t.until) {
		return 0
	}
	if t.next.Before(now) {
		t.next = now
	}
	wait := t.next.Sub(now)
	t.next = t.next.Add(h.pace.every())
	return wait
}
