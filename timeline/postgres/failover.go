package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
)

// Loses implements timeline.Losing: a standby that takes over may have been behind.
func (*Store) Loses() {}

// line is the database's timeline id, which every failover raises; 0 for a standby, which accepts
// no writes anyway. Its time comes with it.
const line = `SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END, clock_timestamp()`

// renew begins every lease anew at a server that has just taken over, once and before anybody uses
// it: its clock may be another one, by which leases that hold have expired, or those of dead owners
// hold for long. A lease that was not kept yet begins anew for as long as others are kept.
const renew = `WITH took AS (UPDATE mulligan.schema SET line = $1 WHERE line < $1 RETURNING 1),
	kept AS (UPDATE mulligan.leases SET expires = clock_timestamp() + ttl WHERE EXISTS (SELECT FROM took))
	UPDATE mulligan.runs SET expires = clock_timestamp() + CASE WHEN kept THEN interval '0' ELSE coalesce((SELECT max(ttl) FROM mulligan.leases), interval '15 s') END
		WHERE owner <> '' AND EXISTS (SELECT FROM took)`

// connected has a connection be used only if its server is the newest one that has been seen, and
// has its leases begin anew where they were given by another server.
func (s *Store) connected(ctx context.Context, conn *pgx.Conn) error {
	id, err := s.notOlder(ctx, conn)
	if err != nil || id <= s.renewed.Load() {
		return err
	}
	var due bool // a role that may only read is not asked to write what others have written
	err = conn.QueryRow(ctx, "SELECT line < $1 FROM mulligan.schema", id).Scan(&due)
	if isMissing(err) || errors.Is(err, pgx.ErrNoRows) { // the schema is created or refused later
		return nil
	}
	if err == nil && due {
		_, err = conn.Exec(ctx, renew, id)
	}
	if err != nil {
		return err
	}
	s.renewed.Store(id)
	return nil
}

// notOlder refuses a connection to a primary that another server has since taken over from: what is
// written to it is lost, and its epochs have been given to others. It gives the server's timeline id.
func (s *Store) notOlder(ctx context.Context, conn *pgx.Conn) (id int64, err error) {
	var now time.Time
	asked := time.Now()
	if err := conn.QueryRow(ctx, line).Scan(&id, &now); err != nil {
		return 0, err
	}
	for id > 0 {
		seen := s.line.Load()
		if id < seen {
			return 0, &timeline.StoreError{
				Kind: timeline.ErrGone, File: s.name, Reason: "it is an old primary, which another one has taken over from",
				Advice: "end it or make it a standby, and name the new one in the store's address",
			}
		}
		if s.line.CompareAndSwap(seen, id) {
			break
		}
	}
	s.clock.heard(now, asked)
	return id, nil
}
