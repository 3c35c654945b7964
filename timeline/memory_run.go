package timeline

import (
	"context"
	"slices"
	"time"
)

func (m *memory) open(ctx context.Context) error {
	if m.closed {
		return ErrClosed
	}
	return ctx.Err()
}

func (m *memory) run(ctx context.Context, run string) (*memoryRun, error) {
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	if r := m.runs[run]; r != nil {
		return r, nil
	}
	return nil, &NotFoundError{Run: run}
}

// findOrNew finds a run, or makes one that lend then adds to the order.
func (m *memory) findOrNew(run string) *memoryRun {
	if r := m.runs[run]; r != nil {
		return r
	}
	return &memoryRun{}
}

// lend makes lease the newest of r.
func (m *memory) lend(r *memoryRun, lease Lease) {
	if r.lease.Epoch == 0 {
		m.runs[lease.Run], m.order = r, append(m.order, r)
	}
	r.lease, r.keeper, r.summary.Run, r.summary.Owner = lease, nil, lease.Run, lease.Owner
}

// keeper is the owner's keeper, the same for all its leases.
func (m *memory) keeper(owner string) *memoryKeeper {
	k := m.keeps[owner]
	if k == nil {
		k = &memoryKeeper{}
		m.keeps[owner] = k
	}
	return k
}

func (r *memoryRun) head() Head {
	return Head{Summary: r.summary, Epoch: r.lease.Epoch, Inbox: r.sent()}
}

// sent is how many commands were ever sent to the run.
func (r *memoryRun) sent() uint64 { return r.answered + uint64(len(r.commands)) }

// newest says why l is not the run's newest lease.
func (r *memoryRun) newest(l Lease) error {
	if r.lease.Epoch != l.Epoch || r.lease.Owner != l.Owner {
		return r.stale(l)
	}
	return nil
}

// held reports whether the run has an owner whose lease holds.
func (r *memoryRun) held(now time.Time) bool {
	return r.lease.Owner != "" && r.until().After(now)
}

// until is when the run's lease expires.
func (r *memoryRun) until() time.Time {
	if r.keeper != nil && r.keeper.until.After(r.lease.Expires) {
		return r.keeper.until
	}
	return r.lease.Expires
}

// heldAgainst reports whether the run's lease keeps owner from claiming it.
func (r *memoryRun) heldAgainst(owner string) bool {
	return r.lease.Owner != owner && r.held(time.Now())
}

func (r *memoryRun) owned() error {
	return &OwnedError{Run: r.lease.Run, Owner: r.lease.Owner, Until: r.until()}
}

func (r *memoryRun) stale(l Lease) error {
	return &StaleError{Run: l.Run, Epoch: l.Epoch, Newest: r.lease.Epoch, Owner: r.lease.Owner}
}

func (r *memoryRun) conflict(l Lease, after uint64) error {
	return &ConflictError{Run: l.Run, Epoch: r.lease.Epoch, After: after, Last: uint64(len(r.events))}
}

// List is Store.List.
func (m *memory) List(ctx context.Context, q Query) ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	order := slices.Clone(m.order)
	if !q.Oldest {
		slices.Reverse(order)
	}
	if q.Before != "" {
		r, err := m.run(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		order = order[slices.Index(order, r)+1:]
	}
	var list []Summary
	now := time.Now()
	for _, r := range order {
		if q.selects(r.summary, r.sent()) && (q.Due.IsZero() || !r.held(now)) {
			list = append(list, r.summary)
		}
	}
	if q.ByDueAt() {
		slices.SortStableFunc(list, func(a, b Summary) int { return a.DueAt.Compare(b.DueAt) })
	}
	return list[:min(q.Limit, len(list))], nil
}

// Sessions is Store.Sessions.
func (m *memory) Sessions(ctx context.Context, limit int) ([]SessionSummary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	var list []SessionSummary
	at := map[string]int{}
	for _, r := range slices.Backward(m.order) {
		s := r.summary
		if s.Session == "" || s.Seq == 0 {
			continue
		}
		if _, known := at[s.Session]; !known {
			at[s.Session] = len(list)
			list = append(list, SessionSummary{ID: s.Session, Last: s, Kept: m.blobs[BlobOwner{Session: s.Session}].Data})
		}
		list[at[s.Session]].Runs++
		list[at[s.Session]].Title = s.Title
	}
	return list[:min(limit, len(list))], nil
}

func cut[T any](all []T, after uint64, limit int) []T {
	rest := all[min(after, uint64(len(all))):]
	if limit > 0 && limit < len(rest) {
		rest = rest[:limit]
	}
	return rest
}
