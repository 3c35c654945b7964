package sqlite

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Begin is timeline.Log's.
func (s *Store) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	if err := timeline.CheckClaim(run, owner); err != nil {
		return timeline.Lease{}, err
	}
	b := &beginning{store: s, first: first, ttl: ttl}
	// It is the first claim, as good as always, and the committer has no time to encode.
	if err := b.make(timeline.Lease{Run: run, Owner: owner, Epoch: 1}); err != nil {
		return timeline.Lease{}, err
	}
	if err := s.submit(ctx, b.write, func() { s.feed.Appended(run, b.own) }); err != nil {
		return timeline.Lease{}, err
	}
	return b.lease, nil
}

// beginning is a Begin.
type beginning struct {
	store *Store
	first func(timeline.Lease) []recovery.Event
	ttl   time.Duration

	lease timeline.Lease
	batch // by that lease
}

// make makes the events by that lease.
func (b *beginning) make(l timeline.Lease) error {
	events := b.first(l)
	err := timeline.CheckBegin(l, events)
	if err == nil {
		b.batch, err = newBatch(events)
	}
	b.lease = l
	return err
}

func (b *beginning) write(ctx context.Context, st *statements) error {
	run, owner, now := b.lease.Run, b.lease.Owner, time.Now().Round(0)
	h, err := st.findOrNew(ctx, run)
	switch {
	case err != nil:
		return err
	case h.Seq > 0:
		return b.again(ctx, st, h)
	case b.store.holds(h, owner, now):
		return refuse(&timeline.OwnedError{Run: run, Owner: h.Owner, Until: h.expires})
	}
	if err := b.by(h.epoch + 1); err != nil {
		return err
	}
	if err := mayJoin(ctx, st, h, 0, b.own); err != nil {
		return err
	}
	if err := h.claim(ctx, st, owner, b.store.lock.id, now.Add(b.ttl)); err != nil {
		return err
	}
	b.lease = h.lease()
	return b.batch.write(ctx, st, h)
}

// again is a Begin of a run that has events, which is the same one if they are.
func (b *beginning) again(ctx context.Context, st *statements, h *head) error {
	owner := b.lease.Owner
	if err := b.by(h.epoch); err != nil {
		return err
	}
	same, err := b.isThere(ctx, st, h.n, 0)
	if err == nil && (!same || h.Owner != owner) {
		err = refuse(&timeline.ConflictError{Run: h.Run, Epoch: h.epoch, Last: h.Seq})
	}
	if err == nil {
		b.lease = h.lease()
	}
	return err
}

// by has the events be those of the run's lease of that epoch.
func (b *beginning) by(epoch uint64) error {
	if b.lease.Epoch == epoch {
		return nil
	}
	if err := b.make(timeline.Lease{Run: b.lease.Run, Owner: b.lease.Owner, Epoch: epoch}); err != nil {
		return refuse(err)
	}
	return nil
}
