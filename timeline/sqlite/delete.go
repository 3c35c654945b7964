package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// Delete is timeline.Log's. It rewrites the database, so that nothing is left of the runs
// in any of its files, and takes time and space in proportion to what remains. Writes of
// this Store do not wait for that: see wipe.go.
func (s *Store) Delete(ctx context.Context, runs ...string) error {
	remove := func(ctx context.Context) error { return s.deleteRows(ctx, runs) }
	err := s.between(ctx, remove)
	if errors.Is(err, timeline.ErrFull) && s.useReserve(reserveSize) {
		err = s.between(ctx, remove)
	}
	if err != nil {
		return err
	}
	defer s.keepReserve()
	for _, run := range runs {
		s.feed.Deleted(run)
	}
	return s.wipe(ctx)
}

// deleteRows removes what is stored of runs, all of them or none.
func (s *Store) deleteRows(ctx context.Context, runs []string) error {
	w := &write{ctx: ctx, do: func(ctx context.Context, st *statements) error {
		var rows []int64
		for _, run := range runs {
			h, err := st.find(ctx, run)
			if err != nil {
				return err
			}
			if s.holds(h, "", time.Now()) {
				return refuse(&timeline.OwnedError{Run: run, Owner: h.Owner, Until: h.expires})
			}
			rows = append(rows, h.n)
		}
		for _, n := range rows {
			for _, remove := range []string{
				"DELETE FROM recent WHERE run = ?", "DELETE FROM events WHERE run = ?", "DELETE FROM commands WHERE run = ?",
				"DELETE FROM snapshots WHERE run = ?", "DELETE FROM runs WHERE n = ?",
			} {
				if _, err := s.writer.ExecContext(ctx, remove, n); err != nil {
					return err
				}
			}
		}
		st.forget()
		return nil
	}}
	if _, err := s.transact(w, nobody); err != nil {
		return s.explain(err)
	}
	return w.refusal
}
