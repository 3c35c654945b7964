package health

import (
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// How fast a provider entry is called that has said that it has too much to do.
const (
	pacedFor = 30 * time.Second
	// paceEvery is a little more than a 200th of a second, so that calls which come late
	// do not make 200 in any second.
	paceEvery = time.Second / 160
)

// pace hands out turns, one after the other, to the calls of provider entries that are in
// trouble. It is of this process alone, and goes by the monotonic clock; of what a provider takes
// it hands out the share of this process, where others call it too.
type pace struct {
	mu      sync.Mutex
	sharing int // processes; 0 = this one alone
	entries map[string]*turns
}

type turns struct {
	until time.Time // calls are paced
	next  time.Time // turn that nobody has
}

// troubled are failures by which a provider says that it has too much to do, or is down:
// what many runs meet in the same moment.
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

// forget drops what is over, and everything where there is too much of it.
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

// share has this process make its share of calls.
func (p *pace) share(processes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sharing = processes
}

// Turn takes the next turn to call model (a full name), and gives how long it is until
// then. That is 0 unless its provider entry said in the last 30 s that it has too much to
// do or is down: then its calls, whosever they are, come one after the other, at most 160
// in a second, because those that failed together else come back together. Where machines share
// a Store they share these 160, too.
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
	t.next = t.next.Add(paceEvery * time.Duration(max(1, h.pace.sharing)))
	return wait
}
