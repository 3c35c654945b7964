package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// kept are the leases that Keep keeps. They end with their process, as its lock file shows.
type kept struct {
	mu sync.Mutex
	of map[string]*keeper // by owner
}

// keeper is one owner.
type keeper struct {
	leases map[string]timeline.Lease // by run
	life   uint64
}

// hold begins or stops keeping l.
func (k *kept) hold(l timeline.Lease, on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := k.of[l.Owner]
	switch {
	case on && by == nil:
		k.of[l.Owner] = &keeper{leases: map[string]timeline.Lease{l.Run: l}}
	case on && by.leases[l.Run].Epoch <= l.Epoch:
		by.leases[l.Run] = l
	case !on && by != nil && by.leases[l.Run].Epoch == l.Epoch:
		delete(by.leases, l.Run)
	}
}

func (k *kept) leases(owner string) (leases []timeline.Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if by := k.of[owner]; by != nil {
		for _, l := range by.leases {
			leases = append(leases, l)
		}
	}
	return leases
}

// life is the owner's current life. A new one begins if leases are over that it did not release.
func (k *kept) life(owner string, over []timeline.Lease) uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := k.of[owner]
	if by == nil {
		return 0
	}
	taken := 0
	for _, l := range over {
		if by.leases[l.Run].Epoch == l.Epoch {
			delete(by.leases, l.Run)
			taken++
		}
	}
	if taken > 0 {
		by.life++
	}
	return by.life
}

// Keep implements timeline.Store. It is one of the deferred writes.
func (s *store) Keep(ctx context.Context, owner string, ttl time.Duration) (life uint64, err error) {
	var over []timeline.Lease
	leases := s.kept.leases(owner)
	if len(leases) == 0 {
		return s.kept.life(owner, nil), nil
	}
	err = s.submitTo(ctx, s.deferred, func(ctx context.Context, st *statements) error {
		over = nil
		for _, l := range leases {
			h, err := st.find(ctx, l.Run)
			if err == nil {
				err = s.prolong(ctx, st, h, l, ttl)
			}
			if _, taken := errors.AsType[refused](err); taken {
				over = append(over, l)
			} else if err != nil {
				return err
			}
		}
		return nil
	}, nil)
	if err != nil {
		return 0, err
	}
	return s.kept.life(owner, over), nil
}

// prolong makes l hold for ttl from now, if it is the run's newest lease.
func (s *store) prolong(ctx context.Context, st *statements, h *head, l timeline.Lease, ttl time.Duration) error {
	if err := newest(h, l); err != nil {
		return err
	}
	return h.lend(ctx, st, l.Epoch, l.Owner, s.lock.id, time.Now().Round(0).Add(ttl))
}
