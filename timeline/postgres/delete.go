package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
)

// maxDeleted is how many runs one statement removes.
const maxDeleted = 64

// removes removes those of the runs $1 that no living owner has, and returns them.
const removes = `WITH ` + struck + `, gone AS (
		DELETE FROM mulligan.runs AS runs WHERE run = ANY($1) AND ` + free + ` RETURNING run, labels
	), events AS (DELETE FROM mulligan.events USING gone WHERE events.run = gone.run
	), commands AS (DELETE FROM mulligan.commands USING gone WHERE commands.run = gone.run
	), tails AS (DELETE FROM mulligan.tails USING gone WHERE tails.run = gone.run
	), snapshots AS (DELETE FROM mulligan.snapshots USING gone WHERE snapshots.run = gone.run
	), worded AS (DELETE FROM mulligan.worded USING gone WHERE worded.run = gone.run
	), labelled AS (DELETE FROM mulligan.labelled USING gone, mulligan.labels_of(gone.labels) AS e WHERE (labelled.key, labelled.value, labelled.run) = (e.key, e.value, gone.run)
	) SELECT run FROM gone`

// Delete implements timeline.Store. Removed data leaves the database's files as deleted rows do:
// through VACUUM, and when the write-ahead log and backups have been replaced.
func (s *Store) Delete(ctx context.Context, gone func(string), runs ...string) error {
	for _, run := range runs {
		if err := s.mayGo(ctx, run); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(runs, maxDeleted) {
		removed, err := s.remove(ctx, some)
		for _, run := range removed {
			gone(run)
		}
		if err != nil {
			return err
		}
		for _, run := range some {
			if !slices.Contains(removed, run) {
				if err := s.mayGo(ctx, run); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// mayGo says who keeps a run from being deleted.
func (s *Store) mayGo(ctx context.Context, run string) error {
	if fits(run) != nil {
		return &timeline.NotFoundError{Run: run}
	}
	st, err := s.stands(ctx, run)
	if err == nil && st.Owner != "" && st.left > 0 {
		err = st.owned()
	}
	return err
}

func (s *Store) remove(ctx context.Context, runs []string) ([]string, error) {
	var removed []string
	w := &write{sql: removes, args: []any{runs}}
	w.read = func(rows pgx.Rows) error {
		removed = append(removed[:w.rows-1], "")
		return rows.Scan(&removed[w.rows-1])
	}
	if err := s.appends.do(ctx, w); err != nil {
		return nil, err
	}
	return removed[:w.rows], nil
}
