package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

var errStore = errors.New("the disk hiccuped")

// store is a Log whose appends fail, sometimes after they were made durable, or
// take long.
type store struct {
	*timeline.Memory
	dice   *dice
	before float64 // how often an append fails
	after  float64 // how often one is durable and fails all the same
	slow   float64
	outage [2]int // the appends from the first to before the second all fail

	mu      sync.Mutex
	run     string
	appends int
	delays  []delay
}

// delay is time that the store cost, beginning at a moment.
type delay struct {
	at  time.Time
	len time.Duration
}

// Claim remembers which run this world is about.
func (s *store) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	s.mu.Lock()
	s.run = run
	s.mu.Unlock()
	return s.Memory.Claim(ctx, run, owner, ttl)
}

func (s *store) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
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
		s.cost(1600 * time.Millisecond)
		return errStore
	case s.dice.chance(s.after) || out:
		s.cost(1600 * time.Millisecond)
		return errors.Join(s.Memory.Append(ctx, l, after, events...), errStore)
	}
	return s.Memory.Append(ctx, l, after, events...)
}

// cost notes what a fault delays a writer by, at the most.
func (s *store) cost(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delays = append(s.delays, delay{time.Now(), d})
}

// slack is the time that faults may have cost since a moment.
func (s *store) slack(since time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum time.Duration
	for _, d := range s.delays {
		if !d.at.Add(d.len).Before(since) {
			sum += d.len
		}
	}
	return sum
}

// events is what is durable.
func (s *store) events() []recovery.Event {
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	events, err := s.Read(context.Background(), run, 0, 0)
	if err != nil {
		return nil
	}
	return events
}

// elsewhere is the store as another process sees it: its owner has another name,
// and it does not fail.
type elsewhere struct{ *timeline.Memory }

func (e elsewhere) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	return e.Memory.Claim(ctx, run, owner+"-elsewhere", ttl)
}
