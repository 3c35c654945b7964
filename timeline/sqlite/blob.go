package sqlite

import (
	"context"

	"github.com/mulligan-run/mulligan/timeline"
)

// SaveBlob implements timeline.Store.
func (s *store) SaveBlob(ctx context.Context, l timeline.Lease, b timeline.Blob) error {
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
		if b.Of.Run == "" {
			_, err := st.session.ExecContext(ctx, b.Of.Session, b.Data)
			return err
		}
		h, err := st.owned(ctx, l)
		if err != nil {
			return err
		}
		if b.Seq > h.Seq {
			return refuse(conflict(h, b.Seq))
		}
		_, err = st.snapshot.ExecContext(ctx, h.n, b.Seq, b.Data)
		return err
	}, nil)
}

// LoadBlob implements timeline.Store.
func (s *store) LoadBlob(ctx context.Context, of timeline.BlobOwner) (timeline.Blob, error) {
	b, there := timeline.Blob{Of: of}, false
	query, id := selectSnapshot, of.Run
	if of.Run == "" {
		query, id, there = "SELECT 0, defaults FROM sessions WHERE session = ?", of.Session, true
	}
	err := s.each(ctx, query, func(r row) error {
		there = true
		return r.Scan(&b.Seq, &b.Data)
	}, id)
	if err == nil && !there {
		err = &timeline.NotFoundError{Run: of.Run}
	}
	return b, err
}

// selectSnapshot gives one row for every run that exists.
const selectSnapshot = "SELECT ifnull(s.seq, 0), s.data FROM runs AS r LEFT JOIN snapshots AS s ON s.run = r.n WHERE r.run = ?"
