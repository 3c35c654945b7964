package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// A lease is its run's alone for the time it was claimed for (runs.expires). Once it was held, and
// so is one of those that its owner keeps (runs.kept), it lasts as long as the owner's one row of
// mulligan.leases, which Keep moves on: whoever comes to a row whose time is over strikes it out
// in the statement that takes a run. So one of the two happens first: the owner finds its row
// gone, and knows that its runs may be another's; or it has moved on, and nobody takes any.

// struck strikes out the leases that are over.
const struck = "struck AS (DELETE FROM mulligan.leases WHERE expires <= clock_timestamp() RETURNING member, owner)"

// free says, in a statement with struck, that nobody has a run. Where a lease was about to end
// as the statement began, and somebody else struck it out, it waits for the next one.
const free = `(runs.owner = '' OR runs.expires <= clock_timestamp() AND NOT (runs.kept AND EXISTS (
		SELECT FROM mulligan.leases AS l WHERE l.member = runs.member AND l.owner = runs.owner
			AND NOT EXISTS (SELECT FROM struck WHERE struck.member = l.member AND struck.owner = l.owner))))`

// ends is until when the lease of a run holds, as far as a look can tell: who takes the run
// asks by free.
const ends = `greatest(runs.expires, CASE WHEN runs.kept THEN (
		SELECT l.expires FROM mulligan.leases AS l WHERE l.member = runs.member AND l.owner = runs.owner) END)`

// Keep implements timeline.Store. The row has a number of its own, which another one that is made after
// it does not have; a database that took over from another one may lack what was written last, so
// that leases that were held there have to be held anew.
func (s *Store) Keep(ctx context.Context, owner string, ttl time.Duration) (life uint64, err error) {
	var row int64
	err = s.leases.do(ctx, &write{
		sql: `INSERT INTO mulligan.leases (member, owner, life, expires) VALUES ($1, $2, $3, clock_timestamp() + $4::interval)
			ON CONFLICT (member, owner) DO UPDATE SET expires = excluded.expires RETURNING life`,
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
