package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Claim is timeline.Log's.
func (s *Store) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	if err := timeline.CheckClaim(run, owner); err != nil {
		return timeline.Lease{}, err
	}
	var lease timeline.Lease
	err := s.submit(ctx, func(ctx context.Context, st *statements) error {
		now := time.Now().Round(0)
		h, err := st.findOrNew(ctx, run)
		if err != nil {
			return err
		}
		if s.holds(h, owner, now) {
			return refuse(&timeline.OwnedError{Run: run, Owner: h.Owner, Until: h.expires})
		}
		if err := h.claim(ctx, st, owner, s.lock.id, now.Add(ttl)); err != nil {
			return err
		}
		lease = h.lease()
		return nil
	}, nil)
	if err != nil {
		return timeline.Lease{}, err
	}
	return lease, nil
}

// holds reports whether the lease in h keeps owner, asking through s, out.
func (s *Store) holds(h *head, owner string, now time.Time) bool {
	switch {
	case h.Owner == "" || !h.expires.After(now):
		return false
	case h.lock == s.lock.id:
		return h.Owner != owner
	}
	return alive(s.dir, h.lock)
}

// Renew is timeline.Log's.
func (s *Store) Renew(ctx context.Context, l timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	renewed := l
	err := s.submitTo(ctx, s.patient, func(ctx context.Context, st *statements) error {
		h, err := owned(ctx, st, l)
		if err != nil {
			return err
		}
		renewed.Expires = time.Now().Round(0).Add(ttl)
		return h.lend(ctx, st, l.Epoch, l.Owner, s.lock.id, renewed.Expires)
	}, nil)
	if err != nil {
		return timeline.Lease{}, err
	}
	return renewed, nil
}

// Release is timeline.Log's.
func (s *Store) Release(ctx context.Context, l timeline.Lease) error {
	return s.submitTo(ctx, s.patient, func(ctx context.Context, st *statements) error {
		h, err := st.find(ctx, l.Run)
		if err != nil {
			return err
		}
		if h.epoch != l.Epoch {
			return refuse(&timeline.StaleError{Run: l.Run, Epoch: l.Epoch, Newest: h.epoch, Owner: h.Owner})
		}
		return h.lend(ctx, st, l.Epoch, "", "", time.Time{})
	}, nil)
}

// Append is timeline.Log's.
func (s *Store) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	if err := timeline.CheckAppend(l, after, events); err != nil {
		return err
	}
	b, err := newBatch(events)
	if err != nil {
		return err
	}
	writes := s.writes
	if isPatient(events) {
		writes = s.patient
	}
	return s.submitTo(ctx, writes, func(ctx context.Context, st *statements) error {
		h, err := owned(ctx, st, l)
		if err != nil {
			return err
		}
		if h.Seq != after {
			same, err := b.isThere(ctx, st, h.n, after)
			if err == nil && !same {
				err = refuse(&timeline.ConflictError{Run: l.Run, Epoch: l.Epoch, After: after, Last: h.Seq})
			}
			return err
		}
		if err := mayJoin(ctx, st, h, after, b.own); err != nil {
			return err
		}
		return b.write(ctx, st, h)
	}, func() { s.feed.Appended(l.Run, b.own) })
}

// isPatient reports whether nobody waits for events: text that was shown already is kept
// in case that something happens, while more of it comes.
func isPatient(events []recovery.Event) bool {
	for _, e := range events {
		if _, ok := e.Body.(recovery.Checkpointed); !ok {
			return false
		}
	}
	return true
}

// Send is timeline.Log's.
func (s *Store) Send(ctx context.Context, run string, c timeline.Command) (uint64, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	body, err := json.Marshal(recovery.Event{Run: run, Body: c.Body})
	if err != nil {
		return 0, err
	}
	var n uint64
	err = s.submit(ctx, func(ctx context.Context, st *statements) error {
		h, err := st.find(ctx, run)
		if err != nil {
			return err
		}
		if err = st.command.QueryRowContext(ctx, h.n, c.ID).Scan(&n); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		n = h.inbox + 1
		if _, err = st.send.ExecContext(ctx, h.n, n, c.ID, body); err != nil {
			return err
		}
		return h.hear(ctx, st, n)
	}, func() { s.feed.Moved(run, 0, n) })
	if err != nil {
		return 0, err
	}
	return n, nil
}
