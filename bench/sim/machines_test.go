package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// sharedStore is the store of several machines. It signals writes.
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

// after waits until there are more than seen writes, and returns their number.
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
	resumesAt func() time.Time // when a paused process resumes
	lag       time.Duration    // how long it takes until the process sees what others wrote
	seen      int
}

// Moved is Shared's. It blocks until there is news: polling would take too long over the virtual
// years of a world.
func (m *machine) Moved(ctx context.Context, runs []string) (moved []timeline.Moved, news bool, err error) {
	if m.seen, err = m.after(ctx, m.seen); err != nil {
		return nil, false, err
	}
	time.Sleep(max(m.lag, time.Until(m.resumesAt())))
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

// Close leaves the shared store open for the others.
func (*machine) Close() error { return nil }

// setUp makes the store. In some worlds each process runs on its own machine.
func (s *disk) setUp(r recipe) {
	d := newDice(r.seed, diceMachines)
	if !d.chance(0.4) || !r.has(partMachines) {
		s.Journal = timeline.NewMemory()
		return
	}
	s.shared = &sharedStore{Store: timeline.NewMemoryStore(), changed: make(chan struct{})}
	s.lag = d.duration(100 * time.Millisecond)
	s.Journal = s.open(time.Now)
}

// open returns the Journal of one more process, which may be paused.
func (s *disk) open(resumesAt func() time.Time) *timeline.Journal {
	if s.shared == nil {
		return s.Journal
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	j := timeline.NewJournal(&machine{sharedStore: s.shared, resumesAt: resumesAt, lag: s.lag})
	s.opened = append(s.opened, j)
	return j
}

// close closes every Journal.
func (s *disk) close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	var errs []error
	for _, j := range s.opened {
		errs = append(errs, j.Close())
	}
	return errors.Join(errs...)
}

// named returns the process whose owner name this is.
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

// alive returns the processes on several machines that can take over the run from but.
func (w *world) alive(but *process) (alive []*process) {
	if w.disk.shared == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if p != but && !p.hasDied() && !p.isPaused() && p.stopping.Err() == nil {
			alive = append(alive, p)
		}
	}
	return alive
}

// member is the process that a screen is connected to.
type member struct {
	*timeline.Journal
	resumesAt func() time.Time
	ctx       context.Context // ends with the connection
	leave     context.CancelFunc
}

// connect connects a screen to the only machine or, if there are several, to any live one until it
// dies.
func (w *world) connect(ctx context.Context, d *dice) *member {
	m := &member{Journal: w.disk.Journal, resumesAt: func() time.Time { return time.Time{} }}
	m.ctx, m.leave = context.WithCancel(ctx)
	there := w.alive(nil)
	at := 0
	if len(there) > 0 {
		at = d.n(len(there) + 1)
	}
	if at == len(there) {
		return m // a machine that drives no run, or the only one
	}
	p := there[at]
	m.Journal, m.resumesAt = p.Journal, p.resumesAt
	go func() {
		select {
		case <-p.died:
			m.leave()
		case <-m.ctx.Done():
		}
	}()
	return m
}

// nextProcess is the process that drives the run next: a new one or, with several machines, perhaps
// an old one.
func (h *person) nextProcess() *process {
	if there := h.w.alive(h.at); len(there) > 0 && h.moves.chance(0.5) {
		p := pick(h.moves, there...)
		p.endPause()
		return p
	}
	return h.w.spawn(h.nextCrash())
}

// delayClaimReply sometimes delays the reply to p's claim until the paused process from has
// resumed, so that both believe that they own the run.
func (p *process) delayClaimReply(from *process, d *dice) {
	if from != nil && p.disk.shared != nil && d.chance(0.5) {
		p.claimReplyAt = from.resumesAt().Add(d.duration(2 * time.Second))
	}
}
