package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// Delete is timeline.Log's. It rewrites the database, so that nothing is left of the runs
// in any of its files, and takes time and space in proportion to what remains.
func (s *Store) Delete(ctx context.Context, runs ...string) error {
	return s.between(ctx, func(ctx context.Context) error {
		if err := s.deleteRows(ctx, runs); err != nil {
			return err
		}
		for _, run := range runs {
			s.feed.Deleted(run)
		}
		return s.wipe(ctx)
	})
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

// wipePatience is how long readers may keep the old pages.
const wipePatience = 10 * time.Second

// wipe writes the database anew and empties the write-ahead log, which is the only way to
// be sure: SQLite leaves old bytes in free pages, and in pages whose rows have moved.
func (s *Store) wipe(ctx context.Context) error {
	if _, err := s.writer.ExecContext(ctx, "VACUUM"); err != nil {
		return s.notWiped(err)
	}
	for began := time.Now(); ; {
		var busy, frames, moved int
		if err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
			return s.notWiped(err)
		}
		if busy == 0 {
			return nil
		}
		if time.Since(began) > wipePatience {
			return s.notWiped(errors.New("somebody has been reading the store all the time"))
		}
	}
}

func (s *Store) notWiped(err error) error {
	return &timeline.StoreError{
		File: s.file, Reason: "the runs are deleted, but their bytes are still in its files",
		Advice: "see to the cause and delete another run; with any they go", Err: s.explain(err),
	}
}
