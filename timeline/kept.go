package timeline

import (
	"context"
	"sync"
	"time"
)

// Kept says how long all renewed leases of an owner hold.
type Kept struct {
	Expires time.Time // as Lease.Expires
	// Life stays the same as long as none of the leases can have expired. A lease that was renewed
	// in another life has to be renewed again before anybody relies on it.
	Life uint64
}

// keeping is what a Journal knows about the leases that its owners keep.
type keeping struct {
	mu sync.Mutex
	of map[string]keeper
}

// keeper is one owner.
type keeper struct {
	now, before Kept    // before is the last with a different Life
	late        []Lease // leases that could not be released when they should have been
}

func (k *keeping) find(owner string) keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[owner]
}

func (k *keeping) change(owner string, change func(*keeper)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := k.of[owner]
	change(&by)
	k.of[owner] = by
}

// until is how long, at least, a lease that was renewed in that life holds.
func (k keeper) until(life uint64) time.Time {
	if k.now.Life == life {
		return k.now.Expires
	}
	if k.before.Life == life {
		return k.before.Expires
	}
	return time.Time{}
}

// Keep is Log.Keep. Leases that could not be released earlier are released first; otherwise they
// would be kept, too.
func (j *Journal) Keep(ctx context.Context, owner string, ttl time.Duration) (Kept, error) {
	if err := j.giveUpLate(ctx, owner); err != nil {
		return Kept{}, err
	}
	asked := time.Now()
	life, err := j.store.Keep(ctx, owner, max(ttl, 1))
	if err != nil {
		return Kept{}, err
	}
	now := Kept{Expires: asked.Add(ttl), Life: life}
	j.keeping.change(owner, func(k *keeper) {
		if k.now.Life != life {
			k.before = k.now
		}
		k.now = now
	})
	return now, nil
}

// giveUpLate releases the leases that Release could not release.
func (j *Journal) giveUpLate(ctx context.Context, owner string) error {
	late := j.keeping.find(owner).late
	for _, l := range late {
		if err := j.store.Hold(ctx, l, 0); err != nil && !stale(err) {
			return err
		}
		j.feed.Left(l.Run)
	}
	if len(late) > 0 {
		j.keeping.change(owner, func(k *keeper) { k.late = append([]Lease(nil), k.late[len(late):]...) })
	}
	return nil
}
