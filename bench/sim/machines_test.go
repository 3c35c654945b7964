package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// sharedStore is the one store of several machines. It knows when something is written.
type sharedStore struct {
	timeline.Store

	mu      sync.Mutex
	writes  int
	changed chan struct{} // closed by the next write
}

func (s *sharedStore) Append(ctx context.Context, a *timeline.Append) error {
	defer s.wrote()
	return s.Store.Append(ctx, a)
}

func (s *sharedStore) Send(ctx context.Context, run string, c timeline.Command, sent func(uint64)) (uint64, error) {
	defer s.wrote()
	return s.Store.Send(ctx, run, c, sent)
}

func (s *sharedStore) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	defer s.wrote()
	return s.Store.SaveTail(ctx, l, t)
}

func (s *sharedStore) wrote() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	close(s.changed)
	s.changed = make(chan struct{})
}

// after waits until there are more writes than that, and gives how many there are.
func (s *sharedStore) after(ctx context.Context, seen int) (int, error) {
	for {
		s.mu.Lock()
		writes, changed := s.writes, s.changed
		s.mu.Unlock()
		if writes > seen {
			return writes, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return seen, ctx.Err()
		}
	}
}

// machine is the shared store as one process has it open.
type machine struct {
	*sharedStore
	awakes func() time.Time // when the process goes on that stands still
	lag    time.Duration    // until it learns what others wrote
	seen   int
}

// Moved is Shared's. It waits for something to tell: the virtual years of a world would be full of looks.
func (m *machine) Moved(ctx context.Context, runs []string) (moved []timeline.Moved, news bool, err error) {
	if m.seen, err = m.after(ctx, m.seen); err != nil {
		return nil, false, err
	}
	time.Sleep(max(m.lag, time.Until(m.awakes())))
	heads, err := m.Heads(ctx, runs...)
	for _, h := range heads {
		t, err := m.LoadTail(ctx, h.Run)
		if err != nil {
			return nil, false, err
		}
		moved = append(moved, timeline.Moved{Run: h.Run, Seq: h.Seq, Inbox: h.Inbox, Attempt: t.Attempt, Said: len(t.Text)})
	}
	return moved, true, err
}

// Close leaves the store to the others.
func (*machine) Close() error { return nil }

// unpack sets up the store: in some worlds processes are on machines of their own.
func (s *disk) unpack(r recipe) {
	d := newDice(r.seed, diceMachines)
	if !d.chance(0.4) || !r.has(partMachines) {
		s.Journal = timeline.NewMemory()
		return
	}
	s.shared = &sharedStore{Store: timeline.NewMemoryStore(), changed: make(chan struct{})}
	s.lag = d.duration(100 * time.Millisecond)
	s.Journal = s.open(time.Now)
}

// open gives the Journal of one more process, which may stand still.
func (s *disk) open(awakes func() time.Time) *timeline.Journal {
	if s.shared == nil {
		return s.Journal
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	j := timeline.NewJournal(&machine{sharedStore: s.shared, awakes: awakes, lag: s.lag})
	s.opened = append(s.opened, j)
	return j
}

// close closes what was opened.
func (s *disk) close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	var errs []error
	for _, j := range s.opened {
		errs = append(errs, j.Close())
	}
	return errors.Join(errs...)
}

// named is the process that owns runs by that name.
func (w *world) named(owner string) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if p.owner() == owner {
			return p
		}
	}
	return nil
}

// living are the processes of several machines that may take up the run, without the one that has it.
func (w *world) living(but *process) (living []*process) {
	if w.disk.shared == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if p != but && !p.gone() && !p.asleep() && p.told.Err() == nil {
			living = append(living, p)
		}
	}
	return living
}

// member is a process that a screen is connected to.
type member struct {
	*timeline.Journal
	awakes func() time.Time
	ctx    context.Context // ends with the connection
	leave  context.CancelFunc
}

// somewhere connects a screen to the one computer or, of several machines, to one that lives, until that dies.
func (w *world) somewhere(ctx context.Context, d *dice) *member {
	m := &member{Journal: w.disk.Journal, awakes: func() time.Time { return time.Time{} }}
	m.ctx, m.leave = context.WithCancel(ctx)
	there := w.living(nil)
	at := 0
	if len(there) > 0 {
		at = d.n(len(there) + 1)
	}
	if at == len(there) {
		return m // a machine that drives no run, or the only one
	}
	p := there[at]
	m.Journal, m.awakes = p.Journal, p.awakes
	go func() {
		select {
		case <-p.died:
			m.leave()
		case <-m.ctx.Done():
		}
	}()
	return m
}

// another is a process to go on with: a new one or, of several machines, one that was there before.
func (h *person) another() *process {
	if there := h.w.living(h.at); len(there) > 0 && h.moves.chance(0.5) {
		p := pick(h.moves, there...)
		p.wakes()
		return p
	}
	return h.w.spawn(h.fate())
}

// hearsLate has a process sometimes learn that it took the run of one that stands still when that has woken: both
// believe that they have it.
func (p *process) hearsLate(from *process, d *dice) {
	if from != nil && p.disk.shared != nil && d.chance(0.5) {
		p.hears = from.awakes().Add(d.duration(2 * time.Second))
	}
}
