package timeline

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// memory is a Store that forgets everything when its process ends. It starts no goroutine and
// works in a testing/synctest bubble.
type memory struct {
	mu     sync.Mutex
	closed bool
	runs   map[string]*memoryRun
	order  []*memoryRun // oldest first
	blobs  map[BlobOwner]Blob
	keeps  map[string]*memoryKeeper // by owner
}

// memoryKeeper is an owner that keeps its leases.
type memoryKeeper struct {
	until time.Time
	life  uint64
}

type memoryRun struct {
	lease    Lease         // Owner is "" once it was released
	keeper   *memoryKeeper // keeps it beyond its own ttl; nil until Hold is called
	events   []recovery.Event
	answered uint64 // commands that count as sent although commands does not have them
	commands []Command
	summary  Summary
	tail     Tail
}

// NewMemoryStore makes an empty Store in memory.
func NewMemoryStore() Store {
	return &memory{runs: map[string]*memoryRun{}, blobs: map[BlobOwner]Blob{}, keeps: map[string]*memoryKeeper{}}
}

// NewMemory makes a Journal that forgets everything when its process ends.
func NewMemory() *Journal { return NewJournal(NewMemoryStore()) }

// Claim is Store.Claim.
func (m *memory) Claim(ctx context.Context, run, owner string, ttl time.Duration) (Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return Head{}, err
	}
	r := m.findOrNew(run)
	if r.heldAgainst(owner) {
		return Head{}, r.owned()
	}
	m.lend(r, Lease{Run: run, Owner: owner, Epoch: r.lease.Epoch + 1, Expires: time.Now().Add(ttl)})
	return r.head(), nil
}

// Hold is Store.Hold.
func (m *memory) Hold(ctx context.Context, l Lease, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, l.Run)
	if err != nil {
		return err
	}
	if ttl == 0 && r.lease.Epoch == l.Epoch {
		m.lend(r, Lease{Run: l.Run, Epoch: l.Epoch})
		return nil
	}
	if err := r.newest(l); err != nil {
		return err
	}
	r.lease.Expires, r.keeper = time.Now().Add(ttl), m.keeper(l.Owner)
	return nil
}

// Keep is Store.Keep.
func (m *memory) Keep(ctx context.Context, owner string, ttl time.Duration) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return 0, err
	}
	k, now := m.keeper(owner), time.Now()
	if !k.until.IsZero() && !k.until.After(now) {
		k.life++
	}
	k.until = now.Add(ttl)
	return k.life, nil
}

// Append is Store.Append.
func (m *memory) Append(ctx context.Context, a *Append) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return err
	}
	r := m.runs[a.Lease.Run]
	if a.Begins != nil {
		r = m.findOrNew(a.Lease.Run)
	}
	if err := r.takes(a); err != nil {
		return err
	}
	if err := m.mayJoin(r, a); err != nil {
		return err
	}
	if b := a.Begins; b != nil {
		m.lend(r, Lease{Run: a.Lease.Run, Owner: a.Lease.Owner, Epoch: a.Lease.Epoch, Expires: time.Now().Add(b.TTL)})
		if b.Inbox > r.sent() {
			r.answered, r.commands = b.Inbox, nil
		}
	}
	if a.EndsTail {
		r.tail = Tail{}
	}
	r.events = append(r.events, a.Events...)
	r.summary = a.Head
	a.Durable()
	return nil
}

// takes says why r refuses a; r is nil for an unknown run.
func (r *memoryRun) takes(a *Append) error {
	switch {
	case r == nil:
		return &NotFoundError{Run: a.Lease.Run}
	case a.Begins == nil:
		if err := r.newest(a.Lease); err != nil {
			return err
		}
	case len(r.events) > 0:
		return r.conflict(a.Lease, 0)
	case r.heldAgainst(a.Lease.Owner):
		return r.owned()
	case a.Lease.Epoch <= r.lease.Epoch:
		return r.stale(a.Lease)
	}
	if a.After != uint64(len(r.events)) {
		return r.conflict(a.Lease, a.After)
	}
	return nil
}

// mayJoin says why a may not begin r in its session.
func (m *memory) mayJoin(r *memoryRun, a *Append) error {
	session := a.Joins()
	if session == "" {
		return nil
	}
	newer := r.lease.Epoch > 0 // order also has r itself, once r was claimed
	for _, last := range slices.Backward(m.order) {
		switch {
		case last == r:
			newer = false
		case last.summary.Session == session && last.summary.Seq > 0:
			return a.CheckJoin(&last.summary, newer)
		}
	}
	return a.CheckJoin(nil, false)
}

// Heads is Store.Heads.
func (m *memory) Heads(ctx context.Context, runs ...string) ([]Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	var heads []Head
	for _, run := range runs {
		if r := m.runs[run]; r != nil {
			heads = append(heads, r.head())
		}
	}
	return heads, nil
}

// Read is Store.Read.
func (m *memory) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return nil, err
	}
	return slices.Clone(cut(r.events, after, limit)), nil
}

// Send is Store.Send.
func (m *memory) Send(ctx context.Context, run string, c Command, sent func(uint64)) (uint64, error) {
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
	sent(c.N)
	return c.N, nil
}

// Inbox is Store.Inbox.
func (m *memory) Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return nil, err
	}
	return slices.Clone(cut(r.commands, after-min(after, r.answered), limit)), nil
}

// SaveTail is Store.SaveTail.
func (m *memory) SaveTail(ctx context.Context, l Lease, t Tail) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, l.Run)
	if err != nil {
		return err
	}
	if err := r.newest(l); err != nil {
		return err
	}
	r.tail = t
	r.tail.Seq = uint64(len(r.events))
	return nil
}

// LoadTail is Store.LoadTail.
func (m *memory) LoadTail(ctx context.Context, run string) (Tail, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.run(ctx, run)
	if err != nil {
		return Tail{}, err
	}
	return r.tail, nil
}

// SaveBlob is Store.SaveBlob.
func (m *memory) SaveBlob(ctx context.Context, l Lease, b Blob) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return err
	}
	if b.Of.Run != "" {
		r, err := m.run(ctx, b.Of.Run)
		if err != nil {
			return err
		}
		if err := r.newest(l); err != nil {
			return err
		}
		if b.Seq > uint64(len(r.events)) {
			return r.conflict(l, b.Seq)
		}
	}
	if b.Seq >= m.blobs[b.Of].Seq {
		b.Data = bytes.Clone(b.Data)
		m.blobs[b.Of] = b
	}
	return nil
}

// LoadBlob is Store.LoadBlob.
func (m *memory) LoadBlob(ctx context.Context, of BlobOwner) (Blob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(ctx); err != nil {
		return Blob{}, err
	}
	if of.Run != "" && m.runs[of.Run] == nil {
		return Blob{}, &NotFoundError{Run: of.Run}
	}
	b := m.blobs[of]
	b.Of, b.Data = of, bytes.Clone(b.Data)
	return b, nil
}

// Delete is Store.Delete.
func (m *memory) Delete(ctx context.Context, gone func(string), runs ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, run := range runs {
		r, err := m.run(ctx, run)
		if err != nil {
			return err
		}
		if r.heldAgainst("") {
			return r.owned()
		}
	}
	for _, run := range runs {
		m.order = slices.DeleteFunc(m.order, func(r *memoryRun) bool { return r == m.runs[run] })
		delete(m.runs, run)
		delete(m.blobs, BlobOwner{Run: run})
		gone(run)
	}
	return nil
}

// Close is Store.Close.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
