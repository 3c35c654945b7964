package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring the schema from version i to i+1. They are a plain list because
// a migration library costs more to compile than it would do here: there is one
// database, one direction, and SQLite's own user_version to count with.
var migrations = []string{
	`CREATE TABLE runs (
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
	) STRICT, WITHOUT ROWID;`,
}

// migrate brings the schema up to date, once, whoever comes first.
func migrate(ctx context.Context, conn *sql.Conn, file string) (err error) {
	if _, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the first error is the news
		}
	}()
	var version int
	if err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%s was written by a newer version (schema %d, this one knows %d): use that version, or another folder",
			file, version, len(migrations))
	}
	for _, m := range migrations[version:] {
		if _, err = conn.ExecContext(ctx, m); err != nil {
			return fmt.Errorf("schema: %w", err)
		}
	}
	if _, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}
