package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// A lease holds at least for the time that it was claimed for (runs.expires). Once Hold has renewed
// it, it is one of those that its owner keeps (runs.kept), and holds as long as the owner's only
// row in mulligan.leases, which Keep extends. A statement that takes a run also deletes the rows of
// that table that have expired. So one of two things happens first: the owner finds its row gone,
// and knows that its runs may be another's; or it has extended the row, and nobody takes any of
// them.

// struck deletes the expired rows of mulligan.leases.
const struck = "struck AS (DELETE FROM mulligan.leases WHERE expires <= clock_timestamp() RETURNING member, owner)"

// free says, in a statement with struck, that nobody has a run. If a row expires during the
// statement and another process deletes it, the run is free only in the next statement.
const free = `(runs.owner = '' OR runs.expires <= clock_timestamp() AND NOT (runs.kept AND EXISTS (
		SELECT FROM mulligan.leases AS l WHERE l.member = runs.member AND l.owner = runs.owner
			AND NOT EXISTS (SELECT FROM struck WHERE struck.member = l.member AND struck.owner = l.owner))))`

// ends is when the lease of a run expires, for information only: a statement that takes the run
// uses free.
const ends = `greatest(runs.expires, CASE WHEN runs.kept THEN (
		SELECT l.expires FROM mulligan.leases AS l WHERE l.member = runs.member AND l.owner = runs.owner) END)`

// Keep implements timeline.Store. A row of mulligan.leases has a random number; a row that replaces
// it has another one. A database that took over from another may lack the last writes, so leases
// that were held there have to be renewed again.
func (s *Store) Keep(ctx context.Context, owner string, ttl time.Duration) (life uint64, err error) {
	var row int64
	err = s.leases.do(ctx, &write{
		sql: `INSERT INTO mulligan.leases (member, owner, life, ttl, expires) VALUES ($1, $2, $3, $4::interval, clock_timestamp() + $4::interval)
			ON CONFLICT (member, owner) DO UPDATE SET ttl = excluded.ttl, expires = excluded.expires RETURNING life`,
		args: []any{s.member, text(owner), rand.Int64(), interval(ttl)}, //nolint:gosec // it is no secret
		read: func(rows pgx.Rows) error { return rows.Scan(&row) },
	})
	if err != nil {
		return 0, err
	}
	return uint64(row) + uint64(s.line.Load())<<32, nil //nolint:gosec // any bits will do
}

// giveUp ends all leases of a member.
func giveUp(member string) *write {
	return &write{sql: `WITH gone AS (DELETE FROM mulligan.leases WHERE member = $1)
		UPDATE mulligan.runs AS runs SET kept = false, expires = least(expires, clock_timestamp()) WHERE member = $1 AND owner <> '' AND (kept OR expires > clock_timestamp())`, args: []any{member}}
}
