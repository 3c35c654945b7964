package sqlite

import (
	"bytes"
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
		expires := now.Add(ttl)
		h, err := st.find(ctx, run)
		if errors.Is(err, timeline.ErrNotFound) {
			lease = timeline.Lease{Run: run, Owner: owner, Epoch: 1, Expires: expires}
			_, err = st.claim.ExecContext(ctx, run, owner, s.lock.id, expires.UnixNano())
			return err
		}
		if err != nil {
			return err
		}
		if s.holds(h, owner, now) {
			return refuse(&timeline.OwnedError{Run: run, Owner: h.Owner, Until: h.expires})
		}
		lease = timeline.Lease{Run: run, Owner: owner, Epoch: h.epoch + 1, Expires: expires}
		return h.lend(ctx, st, lease.Epoch, owner, s.lock.id, expires)
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
	err := s.submit(ctx, func(ctx context.Context, st *statements) error {
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
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
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
	own := make([]recovery.Event, len(events)) // what followers are shown is never the caller's
	stored := make([][]byte, len(events))
	for i, e := range events {
		var err error
		if stored[i], err = e.MarshalJSON(); err != nil {
			return err
		}
		e.Time = e.Time.Round(0)
		own[i] = e
	}
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
		h, err := owned(ctx, st, l)
		if err != nil {
			return err
		}
		if h.Seq != after {
			same, err := has(ctx, st, h.n, after, stored)
			if err == nil && !same {
				err = refuse(&timeline.ConflictError{Run: l.Run, Epoch: l.Epoch, After: after, Last: h.Seq})
			}
			return err
		}
		if err := mayJoin(ctx, st, h, after, own); err != nil {
			return err
		}
		before, recent := h.Summary, true
		for i, e := range own {
			if err := st.add(ctx, h.n, e, stored[i]); err != nil {
				return err
			}
			h.Apply(e)
			recent = isRecent(stored[i])
		}
		return h.save(ctx, st, before, recent)
	}, func() { s.feed.Appended(l.Run, own) })
}

// has reports whether exactly these events follow after.
func has(ctx context.Context, st *statements, run int64, after uint64, stored [][]byte) (bool, error) {
	if err := st.drain(ctx); err != nil {
		return false, err
	}
	rows, err := st.events.QueryContext(ctx, run, after, len(stored))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	n, same := 0, true
	for rows.Next() {
		var seq uint64
		var event sql.RawBytes
		if err := rows.Scan(&seq, &event); err != nil {
			return false, err
		}
		same = same && bytes.Equal(event, stored[n])
		n++
	}
	return same && n == len(stored), rows.Err()
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
