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
	h, err := s.find(ctx, run)
	if err != nil {
		return 0, nil, err
	}
	err = s.each(ctx, "SELECT seq, data FROM snapshots WHERE run = ?", func(r row) error { return r.Scan(&seq, &data) }, h.n)
	return seq, data, err
}
