package timelinetest

import (
	"context"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// Losing is a store that may later have less than it said was durable, as after a failover to a
// standby that was behind.
type Losing struct {
	timeline.Store // with what is left

	empty func() timeline.Store
	mu    sync.Mutex
	done  []func(context.Context, timeline.Store) error
}

var _ timeline.Losing = (*Losing)(nil)

// NewLosing makes a Losing; empty makes the stores that it uses.
func NewLosing(empty func() timeline.Store) *Losing { return &Losing{Store: empty(), empty: empty} }

// Loses implements timeline.Losing.
func (*Losing) Loses() {}

// Lose undoes the last n claims, holds and appends.
func (s *Losing) Lose(ctx context.Context, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Store = s.empty()
	s.done = s.done[:len(s.done)-n]
	for _, do := range s.done {
		if err := do(ctx, s.Store); err != nil {
			return err
		}
	}
	return nil
}

func (s *Losing) do(ctx context.Context, do func(context.Context, timeline.Store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := do(ctx, s.Store)
	if err == nil {
		s.done = append(s.done, do)
	}
	return err
}

// Claim implements timeline.Store.
func (s *Losing) Claim(ctx context.Context, run, owner string, ttl time.Duration) (h timeline.Head, err error) {
	err = s.do(ctx, func(ctx context.Context, to timeline.Store) error {
		h, err = to.Claim(ctx, run, owner, ttl)
		return err
	})
	return h, err
}

// Hold implements timeline.Store.
func (s *Losing) Hold(ctx context.Context, l timeline.Lease, ttl time.Duration) error {
	return s.do(ctx, func(ctx context.Context, to timeline.Store) error { return to.Hold(ctx, l, ttl) })
}

// Append implements timeline.Store.
func (s *Losing) Append(ctx context.Context, a *timeline.Append) error {
	quiet := *a // nobody is told again
	quiet.Durable = func() {}
	err := s.do(ctx, func(ctx context.Context, to timeline.Store) error { return to.Append(ctx, &quiet) })
	if err == nil {
		a.Durable()
	}
	return err
}
