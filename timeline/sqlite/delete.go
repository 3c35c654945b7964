package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// A deletion may have much to remove, and writes wait while the committer works on it, so it is
// done in pieces. First the rows of some runs are removed: their names are then free, and the runs
// cannot be found any more. What they leave behind is listed in the table removed, and is removed
// next. If the process ends before that, the next Delete continues.

const (
	maxRemovedRows  = 1000    // per piece
	maxRemovedBytes = 4 << 20 // per piece, unless a single row is larger
	rowsOfARun      = 8       // finding a run's rows costs about as much as removing this many
)

// Delete implements timeline.Store. It rewrites the database, so that nothing of the runs is left
// in any of its files. This takes time and space in proportion to what remains. Writes of this
// Store do not wait for it: see wipe.go.
func (s *store) Delete(ctx context.Context, gone func(string), runs ...string) error {
	if s.readOnly != nil {
		return s.readOnly
	}
	for _, run := range runs {
		h, err := s.find(ctx, run)
		if err != nil {
			return err
		}
		if err := s.mayGo(h); err != nil {
			return err
		}
	}
	defer s.keepReserve()
	d := &deletion{store: s, gone: gone, runs: runs}
	switch err := d.inPieces(ctx); {
	case err == nil:
		return s.wipe(ctx)
	case len(d.runs) == 0:
		return s.notWiped(err)
	default:
		return err
	}
}

// mayGo says who keeps a run from being deleted.
func (s *store) mayGo(h *head) error {
	if s.holds(h, "", time.Now()) {
		return owned(h)
	}
	return nil
}

// deletion is the state of one Delete.
type deletion struct {
	*store
	gone func(run string)
	runs []string // not removed yet
}

// inPieces removes everything, in pieces. If the disk is too full for that, nobody can write, so
// pieces are of no use: it then gives up the reserve and removes everything in one transaction,
// which takes less space.
func (d *deletion) inPieces(ctx context.Context) error {
	for {
		more, err := d.piece(ctx, maxGroup, removal{rows: maxRemovedRows, bytes: maxRemovedBytes})
		if errors.Is(err, timeline.ErrFull) && d.useReserve(reserveSize) {
			more, err = d.piece(ctx, len(d.runs), removal{rows: math.MaxInt, bytes: math.MaxInt64})
		}
		if err != nil || !more {
			return err
		}
	}
}

// piece removes that many runs, and as much as p allows of what earlier ones have left behind, in
// one transaction.
func (d *deletion) piece(ctx context.Context, runs int, p removal) (more bool, err error) {
	some := d.runs[:min(len(d.runs), runs)]
	err = d.between(ctx, func(ctx context.Context) error {
		w := &write{ctx: ctx, do: func(ctx context.Context, st *statements) error {
			if err := d.take(ctx, st, some); err != nil {
				return err
			}
			p.writer = d.writer
			more, err = p.all(ctx)
			return err
		}}
		if _, err := d.transact(w, nobody); err != nil {
			return d.explain(err)
		}
		return w.refusal
	})
	if err != nil {
		return false, err
	}
	for _, run := range some {
		d.gone(run)
	}
	d.runs = d.runs[len(some):]
	return more || len(d.runs) > 0, nil
}

// take removes the rows of runs, all of them or none, and leaves what is stored for them to
// removal.
func (s *store) take(ctx context.Context, st *statements, runs []string) error {
	var rows []int64
	for _, run := range runs {
		h, err := st.find(ctx, run)
		if err != nil {
			return err
		}
		if err := s.mayGo(h); err != nil {
			return refuse(err)
		}
		rows = append(rows, h.n)
	}
	for _, n := range rows {
		for _, remove := range []string{
			"INSERT INTO removed (n) VALUES (?)", "DELETE FROM recent WHERE run = ?", "DELETE FROM runs WHERE n = ?",
		} {
			if _, err := s.writer.ExecContext(ctx, remove, n); err != nil {
				return err
			}
		}
	}
	st.forget()
	return nil
}

// removal is how much one piece may still remove.
type removal struct {
	writer *sql.Conn
	rows   int
	bytes  int64
}

// all removes what removed runs have left behind, as far as p allows, and reports whether there is
// more.
func (p *removal) all(ctx context.Context) (more bool, err error) {
	for p.rows > 0 && p.bytes > 0 {
		var n int64
		err := p.writer.QueryRowContext(ctx, "SELECT n FROM removed ORDER BY n LIMIT 1").Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if err := p.run(ctx, n); err != nil {
			return false, err
		}
	}
	return true, nil
}

// run removes what is left of a run, as far as p allows.
func (p *removal) run(ctx context.Context, n int64) error {
	p.rows -= rowsOfARun
	for _, table := range []struct{ look, remove string }{
		{"SELECT seq, length(event) FROM events WHERE run = ? ORDER BY seq LIMIT ?", "DELETE FROM events WHERE run = ? AND seq <= ?"},
		{"SELECT n, length(body) FROM commands WHERE run = ? ORDER BY n LIMIT ?", "DELETE FROM commands WHERE run = ? AND n <= ?"},
		{"SELECT seq, length(data) FROM snapshots WHERE run = ? LIMIT ?", "DELETE FROM snapshots WHERE run = ? AND seq <= ?"},
		{"SELECT seq, length(text) FROM tails WHERE run = ? LIMIT ?", "DELETE FROM tails WHERE run = ? AND seq <= ?"},
	} {
		last, err := p.reach(ctx, table.look, n)
		if err == nil && last >= 0 {
			_, err = p.writer.ExecContext(ctx, table.remove, n, last)
		}
		if err != nil || p.rows <= 0 || p.bytes <= 0 {
			return err
		}
	}
	_, err := p.writer.ExecContext(ctx, "DELETE FROM removed WHERE n = ?", n)
	return err
}

// reach gives the number of the last row that may be removed; -1 if none may be.
func (p *removal) reach(ctx context.Context, look string, n int64) (last int64, err error) {
	rows, err := p.writer.QueryContext(ctx, look, n, max(p.rows, 1))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	last = -1
	for p.bytes > 0 && rows.Next() {
		var size int64
		if err := rows.Scan(&last, &size); err != nil {
			return 0, err
		}
		p.rows--
		p.bytes -= size
	}
	return last, rows.Err()
}
