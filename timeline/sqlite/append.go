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

// Claim implements timeline.Store.
func (s *store) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Head, error) {
	var lent timeline.Head
	err := s.submit(ctx, func(ctx context.Context, st *statements) error {
		now := time.Now().Round(0)
		h, err := st.findOrNew(ctx, run)
		if err != nil {
			return err
		}
		if s.holds(h, owner, now) {
			return refuse(owned(h))
		}
		if err := h.claim(ctx, st, h.epoch+1, owner, s.lock.id, now.Add(ttl)); err != nil {
			return err
		}
		lent = h.head()
		return nil
	}, nil)
	if err != nil {
		return timeline.Head{}, err
	}
	return lent, nil
}

// holds reports whether the lease in h keeps owner, who asks through s, from claiming the run.
func (s *store) holds(h *head, owner string, now time.Time) bool {
	switch {
	case h.Owner == "" || !h.expires.After(now):
		return false
	case h.lock == s.lock.id:
		return h.Owner != owner
	}
	return alive(s.dir, h.lock)
}

// Hold implements timeline.Store. It is one of the deferred writes.
func (s *store) Hold(ctx context.Context, l timeline.Lease, ttl time.Duration) error {
	if ttl == 0 {
		s.kept.hold(l, false)
	}
	err := s.submitTo(ctx, s.deferred, func(ctx context.Context, st *statements) error {
		h, err := st.find(ctx, l.Run)
		if err != nil {
			return err
		}
		if ttl == 0 && h.epoch == l.Epoch {
			return h.lend(ctx, st, l.Epoch, "", "", time.Time{})
		}
		return s.prolong(ctx, st, h, l, ttl)
	}, nil)
	if err == nil && ttl > 0 {
		s.kept.hold(l, true)
	}
	return err
}

// Append implements timeline.Store.
func (s *store) Append(ctx context.Context, a *timeline.Append) error {
	stored, err := a.Stored()
	if err != nil {
		return err
	}
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
		h, err := s.takes(ctx, st, a)
		if err != nil {
			return err
		}
		if err := mayJoin(ctx, st, h, a); err != nil {
			return err
		}
		if a.Begins != nil {
			if err := s.begin(ctx, st, h, a); err != nil {
				return err
			}
		}
		return h.write(ctx, st, a, stored)
	}, a.Durable)
}

// takes finds the run of a, or says why the run refuses a.
func (s *store) takes(ctx context.Context, st *statements, a *timeline.Append) (*head, error) {
	h, err := st.findOrNew(ctx, a.Lease.Run)
	switch {
	case err != nil:
		return nil, err
	case a.Begins == nil:
		if h.n == unknownPosition {
			return nil, refuse(&timeline.NotFoundError{Run: a.Lease.Run})
		}
		if err := newest(h, a.Lease); err != nil {
			return nil, err
		}
	case h.Seq > 0:
		return nil, refuse(conflict(h, 0))
	case s.holds(h, a.Lease.Owner, time.Now()):
		return nil, refuse(owned(h))
	case a.Lease.Epoch <= h.epoch:
		return nil, refuse(stale(h, a.Lease))
	}
	if h.Seq != a.After {
		return nil, refuse(conflict(h, a.After))
	}
	return h, nil
}

// begin claims the run for a.
func (s *store) begin(ctx context.Context, st *statements, h *head, a *timeline.Append) error {
	lock, expires := s.lock.id, time.Now().Round(0).Add(a.Begins.TTL)
	if a.Lease.Owner == "" {
		lock, expires = "", time.Time{}
	}
	if err := h.claim(ctx, st, a.Lease.Epoch, a.Lease.Owner, lock, expires); err != nil {
		return err
	}
	if a.Begins.Inbox <= h.inbox {
		return nil
	}
	return h.hear(ctx, st, a.Begins.Inbox)
}

// write appends the events of a, in their stored form, to the run.
func (h *head) write(ctx context.Context, st *statements, a *timeline.Append, stored [][]byte) error {
	if len(a.Events) == 0 {
		return nil
	}
	for i, e := range a.Events {
		if err := st.add(ctx, h, e, stored[i]); err != nil {
			return err
		}
	}
	if a.EndsTail {
		if err := h.endTail(ctx, st); err != nil {
			return err
		}
	}
	return h.save(ctx, st, a.Head, isRecent(stored[len(stored)-1]))
}

// Send implements timeline.Store.
func (s *store) Send(ctx context.Context, run string, c timeline.Command, sent func(uint64)) (uint64, error) {
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
	}, func() { sent(n) })
	if err != nil {
		return 0, err
	}
	return n, nil
}
