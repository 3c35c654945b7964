package sqlite

import "context"

// An event that has just been written lies in the table recent, where all runs share the
// last page. It moves to the others of its run, in the table events, together with those
// that came after it: so a transaction does not write a page of every run that it is
// about. The view timeline is both tables.

// maxRecent is how many events lie in recent when they move, and maxRecentSize the most
// bytes of one: what is larger fills pages of its own anyway.
const (
	maxRecent     = 2048
	maxRecentSize = 1024
)

// selectEvents reads a run. It gives the seq, too, because SQLite else sorts what it could
// merge.
const selectEvents = "SELECT seq, event FROM timeline WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?"

// add stores an event.
func (st *statements) add(ctx context.Context, run int64, seq uint64, event []byte) error {
	if len(event) > maxRecentSize {
		_, err := st.insert.ExecContext(ctx, run, seq, event)
		return err
	}
	r, err := st.recent.ExecContext(ctx, run, seq, event)
	if err == nil {
		st.waiting, err = r.LastInsertId()
	}
	return err
}

// settle moves recent's events to their runs once there are enough.
func (st *statements) settle(ctx context.Context) error {
	if st.waiting < maxRecent {
		return nil
	}
	if _, err := st.merge.ExecContext(ctx); err != nil {
		return err
	}
	_, err := st.empty.ExecContext(ctx)
	st.waiting = 0
	return err
}
