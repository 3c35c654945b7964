package sqlite

import (
	"context"

	"github.com/mulligan-run/mulligan/timeline"
)

// SaveTail implements timeline.Store. It is one of the deferred writes.
func (s *store) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	return s.submitTo(ctx, s.deferred, func(ctx context.Context, st *statements) error {
		h, err := st.owned(ctx, l)
		if err != nil {
			return err
		}
		h.tail = true
		_, err = st.tail.ExecContext(ctx, h.n, t.Attempt, h.Seq, t.Offset, []byte(t.Text))
		return err
	}, nil)
}

// endTail removes the run's tail.
func (h *head) endTail(ctx context.Context, st *statements) error {
	if !h.tail {
		return nil
	}
	h.tail = false
	_, err := st.untail.ExecContext(ctx, h.n)
	return err
}

// LoadTail implements timeline.Store.
func (s *store) LoadTail(ctx context.Context, run string) (t timeline.Tail, err error) {
	there := false
	err = s.each(ctx, selectTail, func(r row) error {
		there = true
		var text []byte
		err := r.Scan(&t.Attempt, &t.Seq, &t.Offset, &text)
		t.Text = string(text)
		return err
	}, run)
	if err == nil && !there {
		err = &timeline.NotFoundError{Run: run}
	}
	return t, err
}

// selectTail gives one row for every run that exists.
const selectTail = "SELECT ifnull(t.attempt, 0), ifnull(t.seq, 0), ifnull(t.start, 0), t.text FROM runs AS r LEFT JOIN tails AS t ON t.run = r.n WHERE r.run = ?"
