package sqlite

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// maxHeads is how many runs the committer remembers at most.
const maxHeads = 4096

// heads are the rows of runs that the committer has read or written and nobody else has
// changed since. They are as the current transaction has made them.
type heads struct {
	known map[string]*head
	at    int64 // the database's version when they were right
}

// refresh makes sure, at the beginning of a transaction, that no other process has
// written since the last one: data_version changes with the commits of others alone.
func (st *statements) refresh(ctx context.Context) error {
	var version int64
	if err := st.version.QueryRowContext(ctx).Scan(&version); err != nil {
		return err
	}
	if version != st.at {
		st.forget()
		st.at = version
	}
	return nil
}

// find looks a run up. Whoever changes its row changes what find gave, too.
func (st *statements) find(ctx context.Context, run string) (*head, error) {
	if h, ok := st.known[run]; ok {
		return h, nil
	}
	h, err := scanHead(st.head.QueryRowContext(ctx, run), run)
	if err != nil {
		return nil, err
	}
	h.tail = true
	st.know(h)
	return h, nil
}

// unknownPosition is that of a run that nobody has heard of: after all others.
const unknownPosition = math.MaxInt64

// findOrNew is find; a run that nobody has heard of has unknownPosition.
func (st *statements) findOrNew(ctx context.Context, run string) (*head, error) {
	h, err := st.find(ctx, run)
	if errors.Is(err, timeline.ErrNotFound) {
		return &head{n: unknownPosition, Summary: timeline.Summary{Run: run}}, nil
	}
	return h, err
}

// claim gives the run to owner by that epoch, and makes the row of one that is new.
func (h *head) claim(ctx context.Context, st *statements, epoch uint64, owner, lock string, expires time.Time) error {
	if h.n != unknownPosition {
		return h.lend(ctx, st, epoch, owner, lock, expires)
	}
	r, err := st.claim.ExecContext(ctx, h.Run, epoch, owner, lock, nanos.Of(expires))
	if err != nil {
		return err
	}
	h.epoch, h.Owner, h.lock, h.expires = epoch, owner, lock, expires
	h.n, err = r.LastInsertId()
	st.know(h)
	return err
}

func (st *statements) know(h *head) {
	if len(st.known) >= maxHeads {
		st.forget()
	}
	st.known[h.Run] = h
}

// forget is for when a row may be another than find gave.
func (st *statements) forget() { clear(st.known) }
