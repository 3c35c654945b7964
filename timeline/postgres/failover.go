package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
)

// Loses implements timeline.Losing: a standby that takes over may have been behind.
func (*Store) Loses() {}

// line is the database's timeline id, which every failover raises; 0 for a standby, which accepts
// no writes anyway. Its time comes with it.
const line = `SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END, clock_timestamp()`

// notOlder refuses a connection to a primary that another server has since taken over from: what is
// written to it is lost, and its epochs have been given to others.
func (s *Store) notOlder(ctx context.Context, conn *pgx.Conn) error {
	var id int64
	var now time.Time
	asked := time.Now()
	if err := conn.QueryRow(ctx, line).Scan(&id, &now); err != nil {
		return err
	}
	if id == 0 {
		s.clock.heard(now, asked)
		return nil
	}
	for {
		seen := s.line.Load()
		if id < seen {
			return &timeline.StoreError{
				Kind: timeline.ErrGone, File: s.name, Reason: "it is an old primary, which another one has taken over from",
				Advice: "end it or make it a standby, and name the new one in the store's address",
			}
		}
		if s.line.CompareAndSwap(seen, id) {
			s.clock.heard(now, asked)
			return nil
		}
	}
}
