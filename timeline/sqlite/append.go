package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
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
		if created, err := s.create(ctx, st, a, stored); created || err != nil {
			return err
		}
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

// create inserts the run of a in one statement. It is false if there may be such a run, or a may not
// begin it.
func (s *store) create(ctx context.Context, st *statements, a *timeline.Append, stored [][]byte) (bool, error) {
	h := &head{n: unknownPosition, epoch: a.Lease.Epoch}
	if a.Begins == nil || a.After > 0 || len(a.Events) == 0 || a.Lease.Epoch == 0 || st.known[a.Lease.Run] != nil {
		return false, nil
	}
	if err := mayJoin(ctx, st, h, a); err != nil {
		if _, no := errors.AsType[refused](err); no {
			return false, nil
		}
		return false, err
	}
	h.Summary, h.Run, h.inbox = a.Head, a.Lease.Run, a.Begins.Inbox
	h.Owner, h.lock, h.expires = s.lends(a)
	row := append([]any{a.Lease.Run, h.epoch, h.Owner, h.lock, nanos.Of(h.expires), h.inbox}, summaryRow(&h.Summary)...)
	r, err := st.create.ExecContext(ctx, row...)
	if err != nil {
		return false, err
	}
	if rows, err := r.RowsAffected(); rows == 0 || err != nil {
		return false, err
	}
	if h.n, err = r.LastInsertId(); err != nil {
		return false, err
	}
	st.know(h)
	return true, h.add(ctx, st, a, stored)
}

// lends is to whom a gives its run, with which lock and until when; to nobody if it has no owner.
func (s *store) lends(a *timeline.Append) (owner, lock string, expires time.Time) {
	if a.Lease.Owner == "" {
		return "", "", time.Time{}
	}
	return a.Lease.Owner, s.lock.id, time.Now().Round(0).Add(a.Begins.TTL)
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
	owner, lock, expires := s.lends(a)
	if err := h.claim(ctx, st, a.Lease.Epoch, owner, lock, expires); err != nil {
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
	if err := h.add(ctx, st, a, stored); err != nil {
		return err
	}
	if a.EndsTail {
		if err := h.endTail(ctx, st); err != nil {
			return err
		}
	}
	return h.save(ctx, st, a.Head, isRecent(stored[len(stored)-1]))
}

// add stores the events of a.
func (h *head) add(ctx context.Context, st *statements, a *timeline.Append, stored [][]byte) error {
	for i, e := range a.Events {
		var course timeline.CourseText
		if i == len(a.Events)-1 {
			course = a.Head.Course
		}
		if err := st.add(ctx, h, e, course, stored[i]); err != nil {
			return err
		}
	}
	return nil
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
