package sqlite

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
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
	st.know(h)
	return h, nil
}

// create makes the row of a run that nobody has heard of, at epoch 1.
func (st *statements) create(ctx context.Context, run, owner, lock string, expires time.Time) (*head, error) {
	r, err := st.claim.ExecContext(ctx, run, owner, lock, toNanos(expires))
	if err != nil {
		return nil, err
	}
	n, err := r.LastInsertId()
	h := &head{n: n, epoch: 1, lock: lock, expires: expires, Summary: timeline.Summary{Run: run, Owner: owner}}
	st.know(h)
	return h, err
}

func (st *statements) know(h *head) {
	if len(st.known) >= maxHeads {
		st.forget()
	}
	st.known[h.Run] = h
}

// forget is for when a row may be another than find gave.
func (st *statements) forget() { clear(st.known) }
