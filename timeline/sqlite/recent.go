package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// A new event is first stored in the table recent, where all runs share the last page, so that a
// transaction need not write a page for every run in it. Later it moves to the other events of its
// run, in the table events, in pieces together with those that came after it (piece.go). The view
// timeline has both tables.

// maxRecent is how many events recent holds before they move, and maxRecentSize the largest of them
// in bytes: a larger event fills pages of its own anyway.
const (
	maxRecent     = 2048
	maxRecentSize = 1024
)

// rowsAtOnce is how many events one statement writes into recent, if there are that many: a
// statement costs about as much as a row. OR FAIL saves SQLite the work of being able to undo a
// single statement: the whole transaction is rolled back if any statement fails.
const (
	rowsAtOnce    = 16
	insertRecent  = "INSERT OR FAIL INTO recent (run, seq, at, piece, event, course) VALUES "
	recentRow     = "(?, ?, ?, ?, ?, ?)"
	recentColumns = 6
)

// insertSeveral is insertRecent with rowsAtOnce rows.
var insertSeveral = insertRecent + recentRow + strings.Repeat(", "+recentRow, rowsAtOnce-1)

// selectEvents reads a run. It also selects seq, because otherwise SQLite sorts what it could
// merge.
const selectEvents = "SELECT seq, event FROM timeline WHERE run = ? AND seq > ? ORDER BY seq" + atMost

// add stores an event, and the run's course after it. A small one is written to recent when several
// have come together, or when drain is called.
func (st *statements) add(ctx context.Context, h *head, e recovery.Event, course timeline.CourseText, stored []byte) error {
	if !isRecent(stored) {
		h.piece = 0
		_, err := st.insert.ExecContext(ctx, h.n, e.Seq, stored)
		return err
	}
	if h.piece == 0 || e.Seq-h.piece >= maxPiece {
		h.piece = e.Seq
	}
	if st.small = append(st.small, h.n, e.Seq, nanos.Of(e.Time), h.piece, stored, string(course)); len(st.small) < rowsAtOnce*recentColumns {
		return nil
	}
	err := st.keep(ctx, st.several, st.small)
	st.small = st.small[:0]
	return err
}

// isRecent reports whether add stores the event in recent.
func isRecent(stored []byte) bool { return len(stored) <= maxRecentSize }

// drain writes the events that add has not written yet.
func (st *statements) drain(ctx context.Context) error {
	for row := range slices.Chunk(st.small, recentColumns) {
		if err := st.keep(ctx, st.recent, row); err != nil {
			return err
		}
	}
	st.small = st.small[:0]
	return nil
}

// keep writes rows to recent.
func (st *statements) keep(ctx context.Context, insert *sql.Stmt, rows []any) error {
	r, err := insert.ExecContext(ctx, rows...)
	if err == nil {
		st.waiting, err = r.LastInsertId()
	}
	return err
}

// settle moves the events in recent to their runs once there are enough.
func (st *statements) settle(ctx context.Context) error {
	if err := st.drain(ctx); err != nil {
		return err
	}
	if st.waiting < maxRecent {
		return nil
	}
	pieces, err := st.pieces(ctx)
	if err != nil {
		return err
	}
	if _, err := st.ends.ExecContext(ctx); err != nil {
		return err
	}
	for _, p := range pieces {
		if _, err := st.insert.ExecContext(ctx, p.run, p.last, st.packer.pack(st.lines[p.from:p.to])); err != nil {
			return err
		}
	}
	if _, err := st.empty.ExecContext(ctx); err != nil {
		return err
	}
	st.waiting = 0
	return nil
}

// pieces puts the events in recent together. (SQLite would take three times as long to order each
// piece, although it reads the events in order.) They are valid until the next call.
func (st *statements) pieces(ctx context.Context) ([]newPiece, error) {
	rows, err := st.whole.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	pieces, lines := st.moving[:0], st.lines[:0]
	var run, seq, piece int64
	var event string
	scan := joinedScan{numbers: []*int64{&run, &seq, &piece}, texts: []*string{&event}}
	for rows.Next() {
		if err := rows.Scan(&scan.from); err != nil {
			return nil, err
		}
		if err := scan.split(); err != nil {
			return nil, err
		}
		if n := len(pieces); n == 0 || pieces[n-1].run != run || pieces[n-1].piece != piece {
			pieces = append(pieces, newPiece{run: run, piece: piece, from: len(lines)})
		} else {
			lines = append(lines, newline...)
		}
		lines = append(lines, event...)
		p := &pieces[len(pieces)-1]
		p.last, p.to = seq, len(lines)
	}
	st.moving, st.lines = pieces, lines
	return pieces, rows.Err()
}

// newPiece is a row of events to be written: the events of a run with the same piece.
type newPiece struct {
	run, piece, last int64
	from, to         int // its lines, in statements.lines
}
