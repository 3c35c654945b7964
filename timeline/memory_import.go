package timeline

import (
	"context"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Import is Log.Import.
func (m *Memory) Import(ctx context.Context, events ...recovery.Event) error {
	i, err := NewImport(events)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return err
	}
	r := m.runs[i.Run]
	switch {
	case r == nil:
		r = &memoryRun{}
	case r.has(0, events):
		return nil
	case len(r.events) > 0 || r.held(time.Now()):
		return &DiffersError{Run: i.Run}
	}
	if err := m.mayJoin(r, 0, events); err != nil {
		return err
	}
	m.lend(r, Lease{Run: i.Run, Epoch: max(i.Epoch, r.lease.Epoch)})
	r.answered, r.commands = i.Inbox, nil
	m.write(r, events)
	return nil
}

// Delete is Log.Delete.
func (m *Memory) Delete(ctx context.Context, runs ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, run := range runs {
		r, err := m.run(ctx, run)
		if err != nil {
			return err
		}
		if r.held(time.Now()) {
			return &OwnedError{Run: run, Owner: r.lease.Owner, Until: r.lease.Expires}
		}
	}
	for _, run := range runs {
		m.order = slices.DeleteFunc(m.order, func(r *memoryRun) bool { return r == m.runs[run] })
		delete(m.runs, run)
		m.feed.Deleted(run)
	}
	return nil
}
