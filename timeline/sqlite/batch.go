package sqlite

import (
	"bytes"
	"context"

	"github.com/mulligan-run/mulligan/recovery"
)

// batch is the events of one append.
type batch struct {
	own    []recovery.Event // what followers are shown, which is never the caller's
	stored [][]byte
}

func newBatch(events []recovery.Event) (batch, error) {
	b := batch{make([]recovery.Event, len(events)), make([][]byte, len(events))}
	for i, e := range events {
		var err error
		if b.stored[i], err = e.MarshalJSON(); err != nil {
			return batch{}, err
		}
		e.Time = e.Time.Round(0)
		b.own[i] = e
	}
	return b, nil
}

// write appends b to the run of h.
func (b batch) write(ctx context.Context, st *statements, h *head) error {
	before, recent := h.Summary, true
	for i, e := range b.own {
		if err := st.add(ctx, h, e, b.stored[i]); err != nil {
			return err
		}
		h.Apply(e)
		recent = isRecent(b.stored[i])
	}
	return h.save(ctx, st, before, recent)
}

// isThere reports whether exactly these events follow after in the run.
func (b batch) isThere(ctx context.Context, st *statements, run int64, after uint64) (bool, error) {
	if err := st.drain(ctx); err != nil {
		return false, err
	}
	rows, err := st.events.QueryContext(ctx, run, after, len(b.stored))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	n, same := 0, true
	for n < len(b.stored) && rows.Next() {
		var p piece
		if err := rows.Scan(&p.last, &p.lines); err != nil {
			return false, err
		}
		for event := range p.after(after) {
			if n < len(b.stored) {
				same = same && bytes.Equal(event, b.stored[n])
				n++
			}
		}
	}
	return same && n == len(b.stored), rows.Err()
}
