package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// longestPause is what a failed append costs a runner at the most before it tries again.
const longestPause = 5 * time.Second

var errDisk = errors.New("the disk hiccuped")

// unwritten reports whether err says that the disk did not write, or not in time.
func unwritten(err error) bool {
	return errors.Is(err, errDisk) || errors.Is(err, context.DeadlineExceeded)
}

// disk is where the world's run is durable, whichever process writes it. Its appends
// may fail, sometimes after they were made durable, or take long. It shows each event
// to the checker as soon as it is durable.
type disk struct {
	*timeline.Journal              // of a process that drives no run
	shared            *sharedStore // of several machines; nil: all processes have the one Journal
	dice              *dice
	before            float64 // how often an append fails
	after             float64 // how often one is durable and fails all the same
	slow              float64
	lag               time.Duration // until a machine learns what another one wrote
	outage            [2]int        // the appends from the first to before the second all fail

	mu      bubbleMutex
	run     string
	events  []recovery.Event
	durable []time.Time // when each of them was
	saved   []savedText
	lease   timeline.Lease // the newest
	checker *checker
	appends int
	delays  []delay

	opening sync.Mutex
	opened  []*timeline.Journal // to be closed
}

// bubbleMutex is a mutex that time passes for whoever waits for it, unlike a sync.Mutex
// in a bubble.
type bubbleMutex chan struct{}

func newBubbleMutex() bubbleMutex { return make(bubbleMutex, 1) }

func (m bubbleMutex) Lock()   { m <- struct{}{} }
func (m bubbleMutex) Unlock() { <-m }

// delay is time that the world's faults cost, beginning at a moment.
type delay struct {
	at  time.Time
	len time.Duration
}

func newDisk(r recipe) *disk {
	d := newDice(r.seed, diceDisk)
	s := &disk{dice: d, mu: newBubbleMutex()}
	s.unpack(r)
	faulty, out := d.chance(0.5), d.chance(0.2)
	from := 2 + d.n(20)
	if r.has(partDisk) && faulty {
		s.before, s.after, s.slow = 0.03, 0.03, 0.03
	}
	if r.has(partDisk) && out {
		s.outage = [2]int{from, from + 1 + d.n(14)}
	}
	return s
}

// sound reports whether nothing is ever wrong with the disk.
func (s *disk) sound() bool { return s.before == 0 && s.outage[1] == 0 }

// claim remembers which run this world is about and who has it.
func (s *disk) claim(ctx context.Context, log *timeline.Journal, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, err := log.Claim(ctx, run, owner, ttl)
	if err == nil {
		s.checker.claimed(s.lease, lease)
		s.run, s.lease = run, lease
	}
	return lease, err
}

func (s *disk) renew(ctx context.Context, log *timeline.Journal, l timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, err := log.Renew(ctx, l, ttl)
	if err == nil {
		s.lease = lease
	}
	return lease, err
}

func (s *disk) release(ctx context.Context, log *timeline.Journal, l timeline.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := log.Release(ctx, l)
	if err == nil {
		s.lease.Expires = time.Time{}
	}
	return err
}

// meet appends by keep, under the faults of a disk.
func (s *disk) meet(keep func() error) error {
	s.mu.Lock()
	s.appends++
	out := s.appends >= s.outage[0] && s.appends < s.outage[1]
	s.mu.Unlock()
	if s.dice.chance(s.slow) {
		pause := s.dice.duration(2 * time.Second)
		s.cost(pause)
		time.Sleep(pause)
	}
	switch {
	case s.dice.chance(s.before) || out && s.dice.chance(0.7):
		s.cost(longestPause)
		return errDisk
	case s.dice.chance(s.after) || out:
		s.cost(longestPause)
		return errors.Join(keep(), errDisk)
	}
	return keep()
}

// keep makes events durable and shows the checker those that are new.
func (s *disk) keep(ctx context.Context, log *timeline.Journal, l timeline.Lease, after uint64, events ...recovery.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := time.Now()
	if err := log.Append(ctx, l, after, events...); err != nil {
		return err
	}
	return s.show(ctx, l, time.Since(began))
}

// begin claims the run and makes its first events durable, and shows the checker both.
func (s *disk) begin(
	ctx context.Context, log *timeline.Journal, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := time.Now()
	lease, err := log.Begin(ctx, run, owner, ttl, first)
	if err != nil {
		return lease, err
	}
	if lease.Epoch != s.lease.Epoch { // else it had happened, and nobody knew
		s.checker.claimed(s.lease, lease)
	}
	s.run, s.lease = run, lease
	return lease, s.show(ctx, lease, time.Since(began))
}

// show shows the checker what is new, by that lease; writing it took so long.
func (s *disk) show(ctx context.Context, l timeline.Lease, took time.Duration) error {
	s.checker.kept(l, s.lease, took)
	all, err := s.Read(ctx, l.Run, uint64(len(s.events)), 0)
	if err != nil {
		return err
	}
	for _, e := range all {
		s.events, s.durable = append(s.events, e), append(s.durable, time.Now())
		s.checker.see(e)
	}
	return nil
}

// cost notes what a fault delays a writer by, at the most.
func (s *disk) cost(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delays = append(s.delays, delay{time.Now(), d})
}

// slack is the time that faults may have cost since a moment; the checker, which the
// disk calls, holds the lock.
func (s *disk) slack(since time.Time) time.Duration {
	var sum time.Duration
	for _, d := range s.delays {
		if !d.at.Add(d.len).Before(since) {
			sum += d.len
		}
	}
	return sum
}

// look calls f with what is durable and the state that it folds to, which f must not keep.
func (s *disk) look(f func(events []recovery.Event, run *recovery.Run)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.events, s.checker.run)
}

// savedText is how much of an attempt's text is known to whoever can read the store.
type savedText struct {
	attempt uint64
	bytes   int
	at      time.Time
}

func (s *disk) saves(t timeline.Tail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = append(s.saved, savedText{t.Attempt, len(t.Text), time.Now()})
}

// savedBy is how many bytes of an attempt's text were saved before a moment.
func (s *disk) savedBy(at time.Time, attempt uint64) (bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, saved := range s.saved {
		if saved.attempt == attempt && saved.at.Before(at) {
			bytes = max(bytes, saved.bytes)
		}
	}
	return bytes
}

// written is when an event became durable.
func (s *disk) written(seq uint64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq == 0 || seq > uint64(len(s.durable)) {
		return time.Time{}
	}
	return s.durable[seq-1]
}

func (s *disk) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}
