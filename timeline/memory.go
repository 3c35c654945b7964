package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Memory is a Log that forgets everything when its process ends. It starts no
// goroutine and works in a testing/synctest bubble.
type Memory struct {
	feed *Feed

	mu       sync.Mutex
	closed   bool
	runs     map[string]*memoryRun
	order    []*memoryRun // oldest first
	sessions map[string]Session
}

type memoryRun struct {
	lease    Lease // Owner is "" once it was released
	events   []recovery.Event
	answered uint64 // commands of where it was imported from, which come before the first of commands
	commands []Command
	summary  Summary

	snapshotSeq uint64
	snapshot    []byte
}

var _ Log = (*Memory)(nil)

// NewMemory makes an empty Memory.
func NewMemory() *Memory {
	m := &Memory{runs: map[string]*memoryRun{}, sessions: map[string]Session{}}
	m.feed = NewFeed(memorySource{m})
	return m
}

// Claim is Log.Claim.
func (m *Memory) Claim(ctx context.Context, run, owner string, ttl time.Duration) (Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.findOrNew(ctx, run, owner)
	if err != nil {
		return Lease{}, err
	}
	lease, err := r.next(run, owner, ttl)
	if err != nil {
		return Lease{}, err
	}
	m.lend(r, lease)
	return lease, nil
}

// findOrNew is the run that owner wants to claim; one that nobody has heard of is in no order yet.
func (m *Memory) findOrNew(ctx context.Context, run, owner string) (*memoryRun, error) {
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	if err := CheckClaim(run, owner); err != nil {
		return nil, err
	}
	if r := m.runs[run]; r != nil {
		return r, nil
	}
	return &memoryRun{}, nil
}

// next is the lease that follows.
func (r *memoryRun) next(run, owner string, ttl time.Duration) (Lease, error) {
	now := time.Now()
	if l := r.lease; l.Owner != owner && r.held(now) {
		return Lease{}, &OwnedError{Run: run, Owner: l.Owner, Until: l.Expires}
	}
	return Lease{Run: run, Owner: owner, Epoch: r.lease.Epoch + 1, Expires: now.Add(ttl).Round(0)}, nil
}

// lend makes lease the newest of r, which nobody may have heard of.
func (m *Memory) lend(r *memoryRun, lease Lease) {
	if r.lease.Epoch == 0 {
		m.runs[lease.Run], m.order = r, append(m.order, r)
	}
	r.lease, r.summary.Owner = lease, lease.Owner
}

// Begin is Log.Begin.
func (m *Memory) Begin(ctx context.Context, run, owner string, ttl time.Duration, first func(Lease) []recovery.Event) (Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.findOrNew(ctx, run, owner)
	if err != nil {
		return Lease{}, err
	}
	if len(r.events) > 0 {
		if r.lease.Owner == owner && r.has(0, first(r.lease)) {
			return r.lease, nil
		}
		return Lease{}, &ConflictError{Run: run, Epoch: r.lease.Epoch, Last: uint64(len(r.events))}
	}
	lease, err := r.next(run, owner, ttl)
	if err != nil {
		return Lease{}, err
	}
	events := first(lease)
	if err := CheckBegin(lease, events); err != nil {
		return Lease{}, err
	}
	if err := m.mayJoin(r, 0, events); err != nil {
		return Lease{}, err
	}
	m.lend(r, lease)
	m.write(r, events)
	return lease, nil
}

// Renew is Log.Renew.
func (m *Memory) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.owned(ctx, l)
	if err != nil {
		return Lease{}, err
	}
	r.lease.Expires = time.Now().Add(ttl).Round(0)
	return r.lease, nil
}

// Release is Log.Release.
func (m *Memory) Release(ctx context.Context, l Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, l.Run)
	if err != nil {
		return err
	}
	if r.lease.Epoch != l.Epoch {
		return r.stale(l)
	}
	r.lease.Owner, r.lease.Expires, r.summary.Owner = "", time.Time{}, ""
	return nil
}

// Append is Log.Append.
func (m *Memory) Append(ctx context.Context, l Lease, after uint64, events ...recovery.Event) error {
	if err := CheckAppend(l, after, events); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.owned(ctx, l)
	if err != nil {
		return err
	}
	if last := uint64(len(r.events)); after != last {
		if r.has(after, events) {
			return nil
		}
		return &ConflictError{Run: l.Run, Epoch: l.Epoch, After: after, Last: last}
	}
	if err := m.mayJoin(r, after, events); err != nil {
		return err
	}
	m.write(r, events)
	return nil
}

// write adds events to r.
func (m *Memory) write(r *memoryRun, events []recovery.Event) {
	events = slices.Clone(events)
	for i := range events {
		events[i].Time = events[i].Time.Round(0) // as a reader of stored ones gets it
		r.summary.Apply(events[i])
	}
	r.events = append(r.events, events...)
	m.feed.Appended(r.lease.Run, events)
}

// Read is Log.Read.
func (m *Memory) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return nil, err
	}
	return slices.Clone(cut(r.events, after, limit)), nil
}

// Follow is Log.Follow.
func (m *Memory) Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error] {
	return m.feed.Follow(ctx, run, after)
}

// Publish is Log.Publish.
func (m *Memory) Publish(run string, d Delta) { m.feed.Publish(run, d) }

// Notify is Log.Notify.
func (m *Memory) Notify(run, text string) { m.feed.Notify(run, text) }

// Send is Log.Send.
func (m *Memory) Send(ctx context.Context, run string, c Command) (uint64, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return 0, err
	}
	if i := slices.IndexFunc(r.commands, func(o Command) bool { return o.ID == c.ID }); i >= 0 {
		return r.commands[i].N, nil
	}
	c.N = r.sent() + 1
	r.commands = append(r.commands, c)
	m.feed.Moved(run, 0, c.N)
	return c.N, nil
}

// sent is how many commands the run was ever sent.
func (r *memoryRun) sent() uint64 { return r.answered + uint64(len(r.commands)) }

// Commands is Log.Commands.
func (m *Memory) Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error] {
	return m.feed.Commands(ctx, run, after)
}

// List is Log.List.
func (m *Memory) List(ctx context.Context, q Query) ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	from := len(m.order)
	if q.Before != "" {
		r, err := m.run(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		from = slices.Index(m.order, r)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	var list []Summary
	now := time.Now()
	for _, r := range slices.Backward(m.order[:from]) {
		if q.Selects(r.summary, r.sent()) && (q.Due.IsZero() || !r.held(now)) {
			list = append(list, r.summary)
		}
	}
	if q.ByDueAt() {
		slices.SortStableFunc(list, func(a, b Summary) int { return a.DueAt.Compare(b.DueAt) })
	}
	return list[:min(limit, len(list))], nil
}

// Close is Log.Close.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.feed.Close()
	}
	return nil
}

func (m *Memory) open(ctx context.Context) error {
	if m.closed {
		return ErrClosed
	}
	return ctx.Err()
}

func (m *Memory) run(ctx context.Context, run string) (*memoryRun, error) {
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	if r := m.runs[run]; r != nil {
		return r, nil
	}
	return nil, &NotFoundError{Run: run}
}

func (m *Memory) owned(ctx context.Context, l Lease) (*memoryRun, error) {
	r, err := m.run(ctx, l.Run)
	if err != nil {
		return nil, err
	}
	if r.lease.Epoch != l.Epoch || r.lease.Owner != l.Owner {
		return nil, r.stale(l)
	}
	return r, nil
}

// held reports whether the run has an owner whose lease holds.
func (r *memoryRun) held(now time.Time) bool {
	return r.lease.Owner != "" && r.lease.Expires.After(now)
}

func (r *memoryRun) stale(l Lease) error {
	return &StaleError{Run: l.Run, Epoch: l.Epoch, Newest: r.lease.Epoch, Owner: r.lease.Owner}
}

// has reports whether exactly these events follow after.
func (r *memoryRun) has(after uint64, events []recovery.Event) bool {
	if len(events) == 0 {
		return true
	}
	there := cut(r.events, after, len(events))
	return len(there) == len(events) && slices.EqualFunc(there, events, func(a, b recovery.Event) bool {
		x, err := json.Marshal(a)
		y, err2 := json.Marshal(b)
		return err == nil && err2 == nil && bytes.Equal(x, y)
	})
}

func cut[T any](all []T, after uint64, limit int) []T {
	rest := all[min(after, uint64(len(all))):]
	if limit > 0 && limit < len(rest) {
		rest = rest[:limit]
	}
	return rest
}

// memorySource is what Memory's feed reads.
type memorySource struct{ *Memory }

// Inbox is Log.Inbox.
func (m *Memory) Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return nil, err
	}
	return slices.Clone(cut(r.commands, after-min(after, r.answered), limit)), nil
}

func (s memorySource) Ended(ctx context.Context, run string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(ctx, run)
	if err != nil {
		return false, err
	}
	return r.summary.Ended, nil
}
