package timeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Limits on what a Journal remembers for a Losing store.
const (
	maxRemembered      = 16 << 10 // appends
	maxRememberedBytes = 64 << 20 // bytes, approximately
)

// remembered are the last appends of this process to all its runs, in order.
type remembered struct {
	mu      sync.Mutex
	appends []*Append
	bytes   int
}

// keep remembers one more append.
func (m *remembered) keep(a *Append) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.appends = append(m.appends, a)
	m.bytes += sizeOfAll(a.Events)
	for len(m.appends) > maxRemembered || m.bytes > maxRememberedBytes && len(m.appends) > 1 {
		m.bytes -= sizeOfAll(m.appends[0].Events)
		m.appends[0] = nil
		m.appends = m.appends[1:]
	}
}

// since gives the events of a run after one seq up to another; nil if any of them is no longer
// remembered.
func (m *remembered) since(run string, after, last uint64) []recovery.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var events []recovery.Event
	for _, a := range m.appends {
		if a.Lease.Run != run {
			continue
		}
		for _, e := range a.Events {
			if e.Seq == after+1 && e.Seq <= last {
				events, after = append(events, e), e.Seq
			}
		}
	}
	if after != last {
		return nil
	}
	return events
}

// regain is called when the store refused l with err. If the store has less than it said was
// durable, and l still holds, regain appends the missing events again and returns nil. Otherwise it
// returns err, or a LostError.
func (j *Journal) regain(ctx context.Context, l Lease, err error) error {
	if j.remembered == nil || !stale(err) && !errors.Is(err, ErrConflict) {
		return err
	}
	k, ok := j.known.by(l)
	if !ok || k.Seq == 0 {
		return err
	}
	heads, failed := j.store.Heads(ctx, l.Run)
	if failed != nil {
		return failed
	}
	h := Head{}
	if len(heads) > 0 {
		h = heads[0]
	}
	if !lost(h, l, k.Seq) {
		return err
	}
	events := j.remembered.since(l.Run, h.Seq, k.Seq)
	until := k.until
	if kept := j.keeping.find(l.Owner).until(k.life); k.kept && kept.After(until) {
		until = kept
	}
	left := time.Until(until)
	if left <= 0 || h.Seq < k.Seq && events == nil {
		return &LostError{Run: l.Run, Last: h.Seq, Said: k.Seq}
	}
	if failed := j.claimUpTo(ctx, l, h.Epoch, left); failed != nil {
		return failed
	}
	if k.kept { // the store may have lost this as well
		if failed := j.store.Hold(ctx, l, left); failed != nil {
			return failed
		}
	}
	if len(events) == 0 {
		return nil
	}
	a := newAppend(l, h.Seq, events)
	a.Head, a.Durable = k.Summary, func() {}
	return j.store.Append(ctx, a)
}

// lost reports whether h is behind what the store told l's owner was durable, up to seq said.
func lost(h Head, l Lease, said uint64) bool {
	if h.Epoch != l.Epoch {
		return h.Epoch < l.Epoch
	}
	return h.Owner == l.Owner && h.Seq < said
}

// claimUpTo makes l the newest lease again of a run whose newest epoch is earlier than l's.
func (j *Journal) claimUpTo(ctx context.Context, l Lease, epoch uint64, ttl time.Duration) error {
	for epoch < l.Epoch {
		h, err := j.store.Claim(ctx, l.Run, l.Owner, ttl)
		if err != nil {
			return err
		}
		epoch = h.Epoch
	}
	if epoch > l.Epoch {
		return &StaleError{Run: l.Run, Epoch: l.Epoch, Newest: epoch, Owner: l.Owner}
	}
	return nil
}
