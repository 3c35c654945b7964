package sqlite

import (
	"context"

	"github.com/mulligan-run/mulligan/timeline"
)

// SaveSnapshot is timeline.Log's.
func (s *Store) SaveSnapshot(ctx context.Context, l timeline.Lease, seq uint64, data []byte) error {
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
		h, err := owned(ctx, st, l)
		if err != nil {
			return err
		}
		if seq > h.Seq {
			return refuse(&timeline.ConflictError{Run: l.Run, Epoch: l.Epoch, After: seq, Last: h.Seq})
		}
		_, err = st.snapshot.ExecContext(ctx, h.n, seq, data)
		return err
	}, nil)
}

// LoadSnapshot is timeline.Log's.
func (s *Store) LoadSnapshot(ctx context.Context, run string) (seq uint64, data []byte, err error) {
	there := false
	err = s.each(ctx, selectSnapshot, func(r row) error {
		there = true
		return r.Scan(&seq, &data)
	}, run)
	if err == nil && !there {
		err = &timeline.NotFoundError{Run: run}
	}
	return seq, data, err
}

// selectSnapshot gives one row for a run that there is.
const selectSnapshot = "SELECT ifnull(s.seq, 0), s.data FROM runs AS r LEFT JOIN snapshots AS s ON s.run = r.n WHERE r.run = ?"
