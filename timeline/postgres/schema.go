package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// migrations take the schema from version i to i+1, forward only.
//
// An append changes no indexed column except those that say what a run waits for, so it is a
// heap-only update. due_from is a lower bound of due_at that seldom changes. Runs are ordered by
// born, the store's clock at the first claim; within a session they are ordered by turn, which is
// unique there.
var migrations = []string{`
CREATE TABLE mulligan.runs (
	run             text COLLATE "C" PRIMARY KEY,
	born            timestamptz NOT NULL DEFAULT clock_timestamp(),
	epoch           bigint NOT NULL,
	owner           text NOT NULL,        -- of the newest epoch, '' once it gave the run up
	member          text NOT NULL,        -- the open store through which it did
	expires         timestamptz NOT NULL, -- of the lease
	inbox           bigint NOT NULL DEFAULT 0, -- position of the last command
	heard           bigint NOT NULL DEFAULT 0, -- of the last that an event answered
	seq             bigint NOT NULL DEFAULT 0, -- of the last event; the rest is its Summary
	session         text NOT NULL DEFAULT '',
	turn            bigint NOT NULL DEFAULT 0, -- its place in the session, from 1
	model           text NOT NULL DEFAULT '',
	title           text NOT NULL DEFAULT '',
	labels          text NOT NULL DEFAULT '',
	status          text NOT NULL DEFAULT '',
	started_at      bigint NOT NULL DEFAULT 0, -- Unix ns, 0 = none
	updated_at      bigint NOT NULL DEFAULT 0,
	waiting_for     text NOT NULL DEFAULT '',
	waiting_until   bigint NOT NULL DEFAULT 0,
	due_at          bigint NOT NULL DEFAULT 0,
	due_from        bigint NOT NULL DEFAULT 0,
	suggestion_open boolean NOT NULL DEFAULT false,
	asking          text NOT NULL DEFAULT '',
	ended           boolean NOT NULL DEFAULT false,
	kind            text NOT NULL DEFAULT '',
	problem         text NOT NULL DEFAULT '',
	decided_by      text NOT NULL DEFAULT '',
	course          text NOT NULL DEFAULT '', -- a timeline.CourseText
	words           text COLLATE "C" NOT NULL DEFAULT '' -- Summary.Words
) WITH (fillfactor = 70);
CREATE INDEX runs_by_age ON mulligan.runs (born DESC, run DESC);
CREATE INDEX runs_by_status ON mulligan.runs (status, born DESC, run DESC);
CREATE INDEX runs_by_model ON mulligan.runs (model, born DESC, run DESC);
CREATE INDEX runs_by_kind ON mulligan.runs (kind, born DESC, run DESC) WHERE kind <> '';
CREATE INDEX runs_by_decider ON mulligan.runs (decided_by, born DESC, run DESC) WHERE decided_by <> '';
CREATE INDEX runs_asking ON mulligan.runs (born DESC, run DESC) WHERE suggestion_open;
CREATE UNIQUE INDEX runs_by_turn ON mulligan.runs (session, turn) WHERE session <> '';
CREATE INDEX runs_by_due ON mulligan.runs (due_from) WHERE due_from > 0;
CREATE INDEX runs_unheard ON mulligan.runs (run) WHERE inbox > heard AND NOT ended;
CREATE INDEX runs_by_member ON mulligan.runs (member) WHERE owner <> '';
CREATE TABLE mulligan.events (
	run   text COLLATE "C" NOT NULL,
	seq   bigint NOT NULL,
	event bytea NOT NULL, -- recovery's stored form
	PRIMARY KEY (run, seq)
);
CREATE TABLE mulligan.commands (
	run  text COLLATE "C" NOT NULL,
	n    bigint NOT NULL,
	id   bytea NOT NULL,
	body bytea NOT NULL, -- as an event without a seq
	PRIMARY KEY (run, n),
	UNIQUE (run, id)
);
CREATE TABLE mulligan.tails (
	run     text COLLATE "C" PRIMARY KEY,
	attempt bigint NOT NULL, -- that is in the air
	seq     bigint NOT NULL, -- the run's last event when it was saved
	start   bigint NOT NULL, -- where text begins, in bytes
	text    bytea NOT NULL   -- what it has said
) WITH (fillfactor = 50);
CREATE TABLE mulligan.snapshots (
	run  text COLLATE "C" PRIMARY KEY,
	seq  bigint NOT NULL, -- of the last event in it
	data bytea NOT NULL
);
CREATE TABLE mulligan.sessions (
	session text COLLATE "C" PRIMARY KEY,
	data    bytea NOT NULL -- its defaults
);
`, factTables, `
CREATE TABLE mulligan.leases (
	member  text COLLATE "C" NOT NULL, -- the open store
	owner   text COLLATE "C" NOT NULL, -- of its runs, all of which that are kept hold until
	expires timestamptz NOT NULL,
	life    bigint NOT NULL,           -- of this row
	PRIMARY KEY (member, owner)
) WITH (fillfactor = 50);
ALTER TABLE mulligan.runs ADD COLUMN kept boolean NOT NULL DEFAULT false; -- by its owner's row of leases
`, `
ALTER TABLE mulligan.runs ADD COLUMN needs text NOT NULL DEFAULT ''; -- a timeline.LabelText
CREATE INDEX runs_needing ON mulligan.runs (due_from) WHERE needs <> '' AND due_from > 0;
`, valueTables, `
CREATE INDEX runs_by_start ON mulligan.runs (started_at);
CREATE INDEX runs_of_sessions ON mulligan.runs (born DESC, run DESC) WHERE session <> '';
`, searchTables, `
ALTER TABLE mulligan.schema ADD COLUMN line bigint NOT NULL DEFAULT 0;                 -- the database's timeline id, since which its clock is the same
ALTER TABLE mulligan.leases ADD COLUMN ttl interval NOT NULL DEFAULT interval '15 s'; -- what it was last kept for
`, trigramNumbers}

// lockMigration is the key of the advisory lock under which one process migrates.
const lockMigration = 0x6d756c6c6967616e // "mulligan"

// migrate creates the timeline of a database that has none, once, whichever process comes first,
// and refuses one with another schema.
func migrate(ctx context.Context, pool *pgxpool.Pool, name string) error {
	version, err := versionOf(ctx, pool)
	if err == nil && version == 0 {
		if err = pgx.BeginFunc(ctx, pool, raise); err == nil {
			version, err = versionOf(ctx, pool)
		}
	}
	switch {
	case err != nil:
		return err
	case version > len(migrations):
		return unwanted{fmt.Errorf("the timeline in %s was written by a newer version (schema %d, this one knows %d): use that version, or another database", name, version, len(migrations))}
	case version < len(migrations):
		return unwanted{fmt.Errorf("the timeline in %s is of schema %d, and this version writes %d: run `mulligan store migrate`", name, version, len(migrations))}
	}
	return nil
}

// Migrate brings the timeline of a database to the schema of this version, or creates it, and
// returns the version of the schema. Older versions of Mulligan refuse it from then on.
func Migrate(ctx context.Context, url string) (version int, err error) {
	settings, err := parse(url)
	if err != nil {
		return 0, err
	}
	s := &Store{name: nameOf(settings.ConnConfig)}
	settings.MaxConns = 1
	if direct(settings) {
		ask(settings.ConnConfig.RuntimeParams, forReaders)
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return 0, s.explain(err)
	}
	defer pool.Close()
	if err := pgx.BeginFunc(ctx, pool, raise); err != nil {
		return 0, s.explain(err)
	}
	return len(migrations), s.explain(migrate(ctx, pool, s.name))
}

// versionOf is the version of the schema, 0 for none.
func versionOf(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (version int, err error) {
	err = db.QueryRow(ctx, "SELECT version FROM mulligan.schema").Scan(&version)
	if isMissing(err) || errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return version, err
}

// isMissing says that there is no timeline, or only one of an older schema.
func isMissing(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"42P01", "42703", "3F000"}, said.Code) // a table, a column, a schema
}

// raise brings the schema up to date in a transaction.
func raise(tx pgx.Tx) error {
	ctx := context.Background() // its connection has timeouts of its own
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockMigration)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS mulligan"); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS mulligan.schema (version integer NOT NULL)"); err != nil {
		return err
	}
	version, err := versionOf(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil { // there may be much to write anew
		return err
	}
	for _, statements := range migrations[min(version, len(migrations)):] {
		if _, err := tx.Conn().PgConn().Exec(ctx, statements).ReadAll(); err != nil {
			return err
		}
	}
	if version >= len(migrations) {
		return nil
	}
	if version == 0 {
		_, err = tx.Exec(ctx, "INSERT INTO mulligan.schema (version) VALUES ($1)", len(migrations))
	} else {
		_, err = tx.Exec(ctx, "UPDATE mulligan.schema SET version = $1", len(migrations))
	}
	return err
}
