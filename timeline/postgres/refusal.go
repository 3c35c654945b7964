package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
)

// errAgain says that what was refused might be accepted now, because others have written meanwhile.
var errAgain = &timeline.StoreError{Kind: timeline.ErrBusy, Reason: "others were faster again and again", Advice: "try it again"}

// standing is a run as it was after a refusal.
type standing struct {
	timeline.Head
	member string
	left   time.Duration // how long its lease still holds
	born   time.Time
}

// stands looks a run up.
func (s *Store) stands(ctx context.Context, run string) (st standing, err error) {
	there := false
	err = s.query(ctx, func(rows pgx.Rows) error {
		there = true
		var seconds float64
		scan := newHeadScan(&st.member, &seconds, &st.born)
		st.Head, err = scan.read(rows)
		st.left = time.Duration(seconds * float64(time.Second))
		return err
	}, "SELECT member, extract(epoch FROM "+ends+" - clock_timestamp())::float8, born, "+headColumns+" FROM mulligan.runs AS runs WHERE run = $1", run)
	if err == nil && !there {
		err = &timeline.NotFoundError{Run: run}
	}
	return st, err
}

// keepsOut reports whether the run's lease keeps an owner in this member from claiming it.
func (s *Store) keepsOut(st standing, owner string) bool {
	return st.Owner != "" && st.left > 0 && (st.Owner != owner || st.member != s.member)
}

func (st standing) owned() error {
	return &timeline.OwnedError{Run: st.Run, Owner: st.Owner, Until: time.Now().Add(st.left)}
}

func (st standing) stale(l timeline.Lease) error {
	return &timeline.StaleError{Run: l.Run, Epoch: l.Epoch, Newest: st.Epoch, Owner: st.Owner}
}

// ownedBy says who has a run that could not be claimed.
func (s *Store) ownedBy(ctx context.Context, run string) error {
	st, err := s.stands(ctx, run)
	if err != nil {
		return err
	}
	return st.owned()
}

// staleBy says which lease is newer than l, under which nothing was written.
func (s *Store) staleBy(ctx context.Context, l timeline.Lease) error {
	st, err := s.stands(ctx, l.Run)
	if err != nil {
		return err
	}
	return st.stale(l)
}

// refusal says why a was not written.
func (s *Store) refusal(ctx context.Context, a *timeline.Append) error {
	st, err := s.stands(ctx, a.Lease.Run)
	conflict := &timeline.ConflictError{Run: a.Lease.Run, Epoch: st.Epoch, After: a.After, Last: st.Seq}
	switch {
	case err != nil && (a.Begins == nil || !errors.Is(err, timeline.ErrNotFound)):
		return err
	case a.Begins == nil && (st.Epoch != a.Lease.Epoch || st.Owner != a.Lease.Owner):
		return st.stale(a.Lease)
	case a.Begins != nil && st.Seq > 0:
		return conflict
	case a.Begins != nil && s.keepsOut(st, a.Lease.Owner):
		return st.owned()
	case a.Begins != nil && a.Lease.Epoch <= st.Epoch:
		return st.stale(a.Lease)
	case st.Seq != a.After:
		return conflict
	}
	return s.mayNotJoin(ctx, a, st)
}

// mayNotJoin says why a did not join its session.
func (s *Store) mayNotJoin(ctx context.Context, a *timeline.Append, st standing) error {
	session := a.Joins()
	if session == "" {
		return errAgain
	}
	var last *timeline.Summary
	newer := false
	err := s.query(ctx, func(rows pgx.Rows) error {
		var born time.Time
		h, err := newHeadScan(&born).read(rows)
		last, newer = &h.Summary, !st.born.IsZero() && born.After(st.born)
		return err
	}, "SELECT born, "+headColumns+" FROM mulligan.runs AS runs WHERE session <> '' AND session = $1 AND seq > 0 ORDER BY turn DESC LIMIT 1", session)
	if err == nil {
		err = a.CheckJoin(last, newer)
	}
	if err == nil {
		err = errAgain
	}
	return err
}
