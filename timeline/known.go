package timeline

import (
	"sync"
	"time"
)

// maxKnown is how many runs a Journal remembers, at most.
const maxKnown = 16 << 10

// summaries are those of the runs that this process appends to, each as of the run's last event, so
// that an append need not read anything.
type summaries struct {
	mu sync.Mutex
	of map[string]known
}

// known is one summary, valid under the lease of that epoch.
type known struct {
	epoch uint64
	until time.Time // as far as is known here, its lease holds at least until then
	kept  bool      // the lease holds as long as the leases that its owner keeps in that life
	life  uint64
	Summary
}

// find gives the summary of l's run after that event.
func (k *summaries) find(l Lease, after uint64) (Summary, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.of[l.Run]
	return s.Summary, ok && s.epoch == l.Epoch && s.Owner == l.Owner && s.Seq == after
}

// learn records the summary of l's run.
func (k *summaries) learn(l Lease, s Summary) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.of) >= maxKnown {
		clear(k.of)
	}
	now := known{epoch: l.Epoch, until: l.Expires, Summary: s}
	if old := k.of[l.Run]; old.epoch == l.Epoch && old.Owner == l.Owner {
		now.until, now.kept, now.life = old.until, old.kept, old.life
	}
	k.of[l.Run] = now
}

// holds records how long l's lease holds; it was renewed in that life of its owner's leases.
func (k *summaries) holds(l Lease, life uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.of[l.Run]; s.epoch == l.Epoch && s.Owner == l.Owner {
		s.until, s.kept, s.life = l.Expires, true, life
		k.of[l.Run] = s
	}
}

// by gives what is known about l's run under that lease.
func (k *summaries) by(l Lease) (known, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.of[l.Run]
	return s, ok && s.epoch == l.Epoch && s.Owner == l.Owner
}

// lost forgets the run of a lease that is over, and reports whether this process has it by no newer one.
func (k *summaries) lost(l Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.of[l.Run]
	if ok && (s.epoch != l.Epoch || s.Owner != l.Owner) {
		return false
	}
	delete(k.of, l.Run)
	return true
}

func (k *summaries) forget(run string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, run)
}
