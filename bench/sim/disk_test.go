package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// longestPause is the longest time that a runner waits after a failed append before it tries again.
const longestPause = 5 * time.Second

var errDisk = errors.New("the disk hiccuped")

// unwritten reports whether err says that the disk did not write, or did not write in time.
func unwritten(err error) bool {
	return errors.Is(err, errDisk) || errors.Is(err, context.DeadlineExceeded)
}

// disk stores the world's run, whichever process writes it. An append may fail, be slow, or be
// durable although it returns an error. The disk passes each event to the checker as soon as it is
// durable.
type disk struct {
	*timeline.Journal              // of a process that drives no run
	shared            *sharedStore // the store of several machines; nil: all processes share one Journal
	dice              *dice
	before            float64 // the chance that an append fails and writes nothing
	after             float64 // the chance that an append is durable and returns an error
	slow              float64
	lag               time.Duration // how long it takes until a machine sees what another one wrote
	outage            [2]int        // the appends from the first number up to, but not including, the second all fail

	mu      bubbleMutex
	run     string
	events  []recovery.Event
	durable []time.Time // when each event became durable
	saved   []savedText
	lease   timeline.Lease // the newest lease
	checker *checker
	appends int
	delays  []delay

	opening sync.Mutex
	opened  []*timeline.Journal // every open Journal, to be closed in the end
}

// bubbleMutex is a mutex on which a goroutine is durably blocked, so that a bubble's time passes
// while it waits. A sync.Mutex does not allow that.
type bubbleMutex chan struct{}

func newBubbleMutex() bubbleMutex { return make(bubbleMutex, 1) }

func (m bubbleMutex) Lock()   { m <- struct{}{} }
func (m bubbleMutex) Unlock() { <-m }

// delay is time that injected faults cost, from a moment on.
type delay struct {
	at  time.Time
	len time.Duration
}

func newDisk(r recipe) *disk {
	d := newDice(r.seed, diceDisk)
	s := &disk{dice: d, mu: newBubbleMutex()}
	s.setUp(r)
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

// sound reports whether this disk has no faults.
func (s *disk) sound() bool { return s.before == 0 && s.outage[1] == 0 }

// claim remembers the world's run and its newest lease.
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

// withFaults calls keep, with the faults of a disk before or after it.
func (s *disk) withFaults(keep func() error) error {
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

// keep appends events and passes the new ones to the checker.
func (s *disk) keep(ctx context.Context, log *timeline.Journal, l timeline.Lease, after uint64, events ...recovery.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := time.Now()
	if err := log.Append(ctx, l, after, events...); err != nil {
		return err
	}
	return s.show(ctx, l, time.Since(began))
}

// begin claims the run, makes its first events durable, and passes both to the checker.
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
	if lease.Epoch != s.lease.Epoch { // otherwise an earlier try had succeeded without anybody knowing
		s.checker.claimed(s.lease, lease)
	}
	s.run, s.lease = run, lease
	return lease, s.show(ctx, lease, time.Since(began))
}

// show passes new events, which took so long to write under this lease, to the checker.
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

// cost records the maximum by which a fault delays a writer.
func (s *disk) cost(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delays = append(s.delays, delay{time.Now(), d})
}

// slack is the time that faults may have cost since a moment. The checker, which the disk calls,
// holds the lock.
func (s *disk) slack(since time.Time) time.Duration {
	var sum time.Duration
	for _, d := range s.delays {
		if !d.at.Add(d.len).Before(since) {
			sum += d.len
		}
	}
	return sum
}

// look calls f with the durable events and the state that they fold to. f must not keep either.
func (s *disk) look(f func(events []recovery.Event, run *recovery.Run)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.events, s.checker.run)
}

// savedText is how much of an attempt's text was saved in the store, and when.
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
