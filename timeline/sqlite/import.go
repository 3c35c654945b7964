package sqlite

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Import is timeline.Log's.
func (s *Store) Import(ctx context.Context, events ...recovery.Event) error {
	i, err := timeline.NewImport(events)
	if err != nil {
		return err
	}
	b, err := newBatch(events)
	if err != nil {
		return err
	}
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
		h, err := s.vacant(ctx, st, i, b)
		if h == nil || err != nil {
			return err
		}
		if err := mayJoin(ctx, st, h, 0, events); err != nil {
			return err
		}
		if h.n == unknownPosition {
			if err := h.claim(ctx, st, "", "", time.Time{}); err != nil {
				return err
			}
		}
		if err := h.lend(ctx, st, max(i.Epoch, h.epoch), "", "", time.Time{}); err != nil {
			return err
		}
		if err := h.hear(ctx, st, max(i.Inbox, h.inbox)); err != nil {
			return err
		}
		before := h.Summary
		for n, e := range events {
			if _, err := st.insert.ExecContext(ctx, h.n, e.Seq, b.stored[n]); err != nil {
				return err
			}
			h.Apply(e)
		}
		return h.save(ctx, st, before, false)
	}, func() { s.feed.Moved(i.Run, events[len(events)-1].Seq, 0) })
}

// vacant is the place of a run that is to be imported, nil if it is there already.
func (s *Store) vacant(ctx context.Context, st *statements, i timeline.Import, b batch) (*head, error) {
	h, err := st.findOrNew(ctx, i.Run)
	if err != nil {
		return nil, err
	}
	if h.Seq > 0 {
		same, err := b.isThere(ctx, st, h.n, 0)
		if err == nil && !same {
			err = refuse(&timeline.DiffersError{Run: i.Run})
		}
		return nil, err
	}
	if s.holds(h, "", time.Now()) {
		return nil, refuse(&timeline.DiffersError{Run: i.Run})
	}
	return h, nil
}
