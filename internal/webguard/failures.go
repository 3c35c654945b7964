package webguard

import (
	"net/netip"
	"sync"
	"time"
)

const (
	failureWindow = time.Minute
	maxAddresses  = 4096 // for which failures are counted separately; all others share one count
)

// Failures counts wrong credentials by address, over a minute that begins with the first.
type Failures struct {
	most int

	mu   sync.Mutex
	seen map[netip.Prefix]*failed
}

type failed struct {
	n     int
	since time.Time
}

// NewFailures allows that many failures per minute.
func NewFailures(most int) *Failures {
	return &Failures{most: most, seen: map[netip.Prefix]*failed{}}
}

// Add counts a failure. It returns its number within the current minute, whether that is too
// many, and how much of the minute is left.
func (f *Failures) Add(remote string, now time.Time) (n int, tooMany bool, left time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entry(address(remote), now)
	if now.Sub(e.since) >= failureWindow {
		*e = failed{since: now}
	}
	e.n++
	return e.n, e.n > f.most, e.since.Add(failureWindow).Sub(now)
}

func (f *Failures) entry(from netip.Prefix, now time.Time) *failed {
	if e := f.seen[from]; e != nil {
		return e
	}
	if len(f.seen) >= maxAddresses {
		for key, e := range f.seen {
			if now.Sub(e.since) >= failureWindow {
				delete(f.seen, key)
			}
		}
	}
	if len(f.seen) >= maxAddresses {
		from = netip.Prefix{}
		if e := f.seen[from]; e != nil {
			return e
		}
	}
	e := &failed{since: now}
	f.seen[from] = e
	return e
}

// address is what failures are counted by: an IPv4 address, or the /64 network of an IPv6
// address. Connections without one (a unix socket) share one count.
func address(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 64
	if ip.Is4() {
		bits = 32
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
