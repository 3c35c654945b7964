package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// migration takes the schema to the next version: first the statements, then the rows.
type migration struct {
	statements string
	rows       func(ctx context.Context, conn *sql.Conn) error // nil = the rows stay as they are
}

// migrations take the schema from version i to i+1. They are a plain list because a migration
// library would cost more to compile than it saves here: there is one database, one direction, and
// SQLite's own user_version to count with.
var migrations = []migration{
	{statements: `CREATE TABLE runs (
		n               INTEGER PRIMARY KEY AUTOINCREMENT,
		run             TEXT NOT NULL UNIQUE,
		epoch           INTEGER NOT NULL,
		owner           TEXT NOT NULL,    -- of the newest epoch, '' once released
		lock            TEXT NOT NULL,    -- the owner's lock file, without .lock
		expires         INTEGER NOT NULL, -- of the lease, Unix ns
		inbox           INTEGER NOT NULL DEFAULT 0, -- position of the last command
		seq             INTEGER NOT NULL DEFAULT 0, -- of the last event; the rest is its Summary
		session         TEXT NOT NULL DEFAULT '',
		model           TEXT NOT NULL DEFAULT '',
		title           TEXT NOT NULL DEFAULT '',
		status          TEXT NOT NULL DEFAULT '',
		started_at      INTEGER NOT NULL DEFAULT 0, -- Unix ns, 0 = none
		updated_at      INTEGER NOT NULL DEFAULT 0,
		waiting_until   INTEGER NOT NULL DEFAULT 0,
		suggestion_open INTEGER NOT NULL DEFAULT 0,
		asking          TEXT NOT NULL DEFAULT '',
		ended           INTEGER NOT NULL DEFAULT 0
	) STRICT;
	CREATE INDEX runs_by_status ON runs (status, n);
	CREATE INDEX runs_by_session ON runs (session, n);
	CREATE TABLE events (
		run   INTEGER NOT NULL REFERENCES runs (n),
		seq   INTEGER NOT NULL,
		event BLOB NOT NULL, -- recovery's stored form
		PRIMARY KEY (run, seq)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE commands (
		run  INTEGER NOT NULL REFERENCES runs (n),
		n    INTEGER NOT NULL,
		id   TEXT NOT NULL,
		body BLOB NOT NULL, -- as an event without a seq
		PRIMARY KEY (run, n),
		UNIQUE (run, id)
	) STRICT, WITHOUT ROWID;`},
	{statements: `
	ALTER TABLE runs ADD COLUMN waiting_for TEXT NOT NULL DEFAULT '';
	ALTER TABLE runs ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0; -- Unix ns, 0 = never
	CREATE INDEX runs_by_due ON runs (due_at) WHERE due_at > 0;
	UPDATE runs SET due_at = updated_at WHERE seq > 0 AND ended = 0;`, rows: fillDue},
	{statements: `
	CREATE TABLE snapshots (
		run  INTEGER PRIMARY KEY REFERENCES runs (n) ON DELETE CASCADE,
		seq  INTEGER NOT NULL, -- of the last event in it
		data BLOB NOT NULL     -- recovery's stored form
	) STRICT;
	CREATE TABLE sessions (
		session  TEXT PRIMARY KEY,
		defaults BLOB NOT NULL -- a timeline.Session
	) STRICT;`},
	{statements: `
	CREATE TABLE recent (
		n     INTEGER PRIMARY KEY, -- in the order of arrival, from 1 whenever it was empty
		run   INTEGER NOT NULL,
		seq   INTEGER NOT NULL,
		event BLOB NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX recent_by_run ON recent (run, seq);
	CREATE VIEW timeline AS
		SELECT run, seq, event FROM events UNION ALL SELECT run, seq, event FROM recent;`},
	{statements: `
	ALTER TABLE recent ADD COLUMN at INTEGER NOT NULL DEFAULT 0; -- the event's time, Unix ns
	-- Those of a run with the same piece follow one another, and become one row of events:
	-- its seq is that of the last, its event is theirs, a line each.
	ALTER TABLE recent ADD COLUMN piece INTEGER NOT NULL DEFAULT 0;
	UPDATE recent SET piece = seq;
	CREATE VIEW heads AS SELECT
		runs.n AS n, runs.run AS run, epoch, owner, lock, expires, inbox,
		ifnull(last.seq, runs.seq) AS seq, session, model, title, status,
		started_at, ifnull(last.at, updated_at) AS updated_at,
		waiting_for, waiting_until,
		iif(due_at = updated_at, ifnull(last.at, due_at), due_at) AS due_at, due_at AS due_from,
		suggestion_open, asking, ended
	FROM runs LEFT JOIN recent AS last ON last.n = (
		SELECT n FROM recent WHERE recent.run = runs.n AND recent.seq > runs.seq AND ended = 0 ORDER BY recent.seq DESC LIMIT 1);`},
	{statements: `
	ALTER TABLE runs ADD COLUMN heard INTEGER NOT NULL DEFAULT 0; -- position of the last command that an event answered
	CREATE INDEX runs_unheard ON runs (n) WHERE inbox > heard AND ended = 0;
	DROP VIEW heads;
	CREATE VIEW heads AS SELECT
		runs.n AS n, runs.run AS run, epoch, owner, lock, expires, inbox, heard,
		ifnull(last.seq, runs.seq) AS seq, session, model, title, status,
		started_at, ifnull(last.at, updated_at) AS updated_at,
		waiting_for, waiting_until,
		iif(due_at = updated_at, ifnull(last.at, due_at), due_at) AS due_at, due_at AS due_from,
		suggestion_open, asking, ended
	FROM runs LEFT JOIN recent AS last ON last.n = (
		SELECT n FROM recent WHERE recent.run = runs.n AND recent.seq > runs.seq AND ended = 0 ORDER BY recent.seq DESC LIMIT 1);`, rows: fillHeard},
	{statements: `CREATE TABLE removed (n INTEGER PRIMARY KEY) STRICT; -- runs that are gone, and whose events, commands and snapshot are to follow`},
	{statements: `CREATE TABLE tails (
		run     INTEGER PRIMARY KEY REFERENCES runs (n) ON DELETE CASCADE,
		attempt INTEGER NOT NULL, -- that is in the air
		seq     INTEGER NOT NULL, -- the run's last event when it was saved
		start   INTEGER NOT NULL, -- where text begins, in bytes
		text    BLOB NOT NULL     -- what it has said
	) STRICT;`},
	{statements: `
	ALTER TABLE runs ADD COLUMN labels TEXT NOT NULL DEFAULT ''; -- a timeline.LabelText
	DROP VIEW heads;
	CREATE VIEW heads AS SELECT
		runs.n AS n, runs.run AS run, epoch, owner, lock, expires, inbox, heard,
		ifnull(last.seq, runs.seq) AS seq, session, model, title, status,
		started_at, ifnull(last.at, updated_at) AS updated_at,
		waiting_for, waiting_until,
		iif(due_at = updated_at, ifnull(last.at, due_at), due_at) AS due_at, due_at AS due_from,
		suggestion_open, asking, ended, labels
	FROM runs LEFT JOIN recent AS last ON last.n = (
		SELECT n FROM recent WHERE recent.run = runs.n AND recent.seq > runs.seq AND ended = 0 ORDER BY recent.seq DESC LIMIT 1);`},
	{statements: `
	ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT '';
	ALTER TABLE runs ADD COLUMN problem TEXT NOT NULL DEFAULT '';
	ALTER TABLE runs ADD COLUMN decided_by TEXT NOT NULL DEFAULT '';
	ALTER TABLE runs ADD COLUMN course TEXT NOT NULL DEFAULT ''; -- a timeline.CourseText
	ALTER TABLE runs ADD COLUMN words TEXT NOT NULL DEFAULT ''; -- Summary.Words
	CREATE INDEX runs_asking ON runs (n) WHERE suggestion_open = 1;
	-- All that runs are looked for by, so that a look at each of them reads nothing else.
	CREATE INDEX runs_course ON runs (n, status, suggestion_open, model, kind, decided_by, started_at, labels, words);
	DROP VIEW heads;
	CREATE VIEW heads AS SELECT
		runs.n AS n, runs.run AS run, epoch, owner, lock, expires, inbox, heard,
		ifnull(last.seq, runs.seq) AS seq, session, model, title, status,
		started_at, ifnull(last.at, updated_at) AS updated_at,
		waiting_for, waiting_until,
		iif(due_at = updated_at, ifnull(last.at, due_at), due_at) AS due_at, due_at AS due_from,
		suggestion_open, asking, ended, labels, kind, problem, decided_by, course, words
	FROM runs LEFT JOIN recent AS last ON last.n = (
		SELECT n FROM recent WHERE recent.run = runs.n AND recent.seq > runs.seq AND ended = 0 ORDER BY recent.seq DESC LIMIT 1);`, rows: fillCourse},
	{statements: `
	ALTER TABLE runs ADD COLUMN needs TEXT NOT NULL DEFAULT ''; -- a timeline.LabelText
	DROP VIEW heads;
	CREATE VIEW heads AS SELECT
		runs.n AS n, runs.run AS run, epoch, owner, lock, expires, inbox, heard,
		ifnull(last.seq, runs.seq) AS seq, session, model, title, status,
		started_at, ifnull(last.at, updated_at) AS updated_at,
		waiting_for, waiting_until,
		iif(due_at = updated_at, ifnull(last.at, due_at), due_at) AS due_at, due_at AS due_from,
		suggestion_open, asking, ended, labels, kind, problem, decided_by, course, words, needs
	FROM runs LEFT JOIN recent AS last ON last.n = (
		SELECT n FROM recent WHERE recent.run = runs.n AND recent.seq > runs.seq AND ended = 0 ORDER BY recent.seq DESC LIMIT 1);`},
	{statements: searchTables},
	{statements: searchNew},
	{statements: `
	ALTER TABLE recent ADD COLUMN course TEXT NOT NULL DEFAULT ''; -- of the run after the event; '' = as in runs
	DROP VIEW heads;
	CREATE VIEW heads AS SELECT
		runs.n AS n, runs.run AS run, epoch, owner, lock, expires, inbox, heard,
		ifnull(last.seq, runs.seq) AS seq, session, model, title, status,
		started_at, ifnull(last.at, updated_at) AS updated_at,
		waiting_for, waiting_until,
		iif(due_at = updated_at, ifnull(last.at, due_at), due_at) AS due_at, due_at AS due_from,
		suggestion_open, asking, ended, labels, kind, problem, decided_by, ifnull(nullif(last.course, ''), runs.course) AS course, words, needs
	FROM runs LEFT JOIN recent AS last ON last.n = (
		SELECT n FROM recent WHERE recent.run = runs.n AND recent.seq > runs.seq AND ended = 0 ORDER BY recent.seq DESC LIMIT 1);`},
}

// migrate brings the schema up to date. If several processes try, the first one does.
func migrate(ctx context.Context, conn *sql.Conn, file string) (err error) {
	var version int
	if err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version == len(migrations) {
		return err // the usual case, which also works on a full disk
	}
	if _, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the first error is the one that matters
		}
	}()
	if err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil { // another process may have been first
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%s was written by a newer version (schema %d, this one knows %d): use that version, or another folder",
			file, version, len(migrations))
	}
	for _, m := range migrations[version:] {
		if _, err = conn.ExecContext(ctx, m.statements); err == nil && m.rows != nil {
			err = m.rows(ctx, conn)
		}
		if err != nil {
			return fmt.Errorf("schema: %w", err)
		}
	}
	if _, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// fillDue computes, from the events of runs of schema 1, what they wait for and until when.
func fillDue(ctx context.Context, conn *sql.Conn) error {
	asleep, err := column[int64](ctx, conn, "SELECT n FROM runs WHERE ended = 0 AND (status = 'waiting' OR suggestion_open = 1)")
	if err != nil {
		return err
	}
	for _, n := range asleep {
		events, err := column[[]byte](ctx, conn, "SELECT event FROM events WHERE run = ? ORDER BY seq", n)
		if err != nil {
			return err
		}
		var s timeline.Summary
		for _, stored := range events {
			var e recovery.Event
			if err := json.Unmarshal(stored, &e); err != nil {
				return err
			}
			s.Apply(e)
		}
		_, err = conn.ExecContext(ctx, "UPDATE runs SET waiting_for = ?, due_at = ? WHERE n = ?", string(s.WaitingFor), nanos.Of(s.DueAt), n)
		if err != nil {
			return err
		}
	}
	return nil
}

// fillHeard computes which commands the events of runs of schema 5 have answered.
func fillHeard(ctx context.Context, conn *sql.Conn) error {
	asked, err := column[int64](ctx, conn, "SELECT n FROM runs WHERE ended = 0 AND inbox > 0")
	if err != nil {
		return err
	}
	for _, n := range asked {
		pieces, err := column[[]byte](ctx, conn, "SELECT event FROM timeline WHERE run = ? ORDER BY seq", n)
		if err != nil {
			return err
		}
		heard := uint64(0)
		for stored := range bytes.SplitSeq(bytes.Join(pieces, newline), newline) {
			var e recovery.Event
			if err := json.Unmarshal(stored, &e); err != nil {
				return err
			}
			heard = max(heard, e.Inbox)
		}
		if _, err := conn.ExecContext(ctx, "UPDATE runs SET heard = ? WHERE n = ?", heard, n); err != nil {
			return err
		}
	}
	return nil
}

// fillCourse computes the Course of runs of schema 9. Events of a damaged run that cannot be read
// are left out; reading the run reports them.
func fillCourse(ctx context.Context, conn *sql.Conn) error {
	runs, err := column[int64](ctx, conn, "SELECT n FROM heads WHERE seq > 0")
	if err != nil {
		return err
	}
	for _, n := range runs {
		pieces, err := column[[]byte](ctx, conn, "SELECT event FROM timeline WHERE run = ? ORDER BY seq", n)
		if err != nil {
			return err
		}
		s := summaryOf(pieces)
		_, err = conn.ExecContext(ctx, "UPDATE runs SET kind = ?, problem = ?, decided_by = ?, course = ?, words = ? WHERE n = ?",
			string(s.Kind), s.Problem, s.DecidedBy, string(s.Course), s.Words(), n)
		if err != nil {
			return err
		}
	}
	return nil
}

// summaryOf is the summary of the events in pieces, as far as they can be read.
func summaryOf(pieces [][]byte) (s timeline.Summary) {
	for _, stored := range pieces {
		lines, err := unpack(stored)
		if err != nil {
			return s
		}
		for line := range bytes.SplitSeq(lines, newline) {
			var e recovery.Event
			if json.Unmarshal(line, &e) != nil {
				return s
			}
			s.Apply(e)
		}
	}
	return s
}

// column reads all rows of a query with one column.
func column[T any](ctx context.Context, conn *sql.Conn, query string, args ...any) (values []T, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}
