package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

var (
	_ timeline.Members     = (*Store)(nil)
	_ timeline.BulkClaimer = (*Store)(nil)
)

// about is what a member says about itself.
type about struct {
	Version, Role, Address string
	Live, Seal             string
	Labels                 recovery.Labels
	Lag                    time.Duration
}

// Join implements timeline.Members. A member that stopped renewing is forgotten after an hour.
func (s *Store) Join(ctx context.Context, m timeline.Member, ttl time.Duration) error {
	says, err := json.Marshal(about{m.Version, m.Role, m.Address, m.Live, m.Seal, m.Labels, m.Lag})
	if err != nil {
		return err
	}
	_, err = s.note(ctx, `WITH gone AS (DELETE FROM mulligan.members WHERE expires < clock_timestamp() - interval '1 hour' AND member <> $1)
		INSERT INTO mulligan.members (member, name, about, seen, expires) VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4::interval)
		ON CONFLICT (member) DO UPDATE SET name = excluded.name, about = excluded.about, seen = excluded.seen, expires = excluded.expires`,
		s.member, text(m.Name), says, interval(ttl))
	return err
}

// Leave implements timeline.Members.
func (s *Store) Leave(ctx context.Context) error {
	_, err := s.note(ctx, "DELETE FROM mulligan.members WHERE member = $1", s.member)
	return err
}

// Members implements timeline.Members.
func (s *Store) Members(ctx context.Context) (list []timeline.Member, err error) {
	err = s.query(ctx, func(rows pgx.Rows) error {
		var m timeline.Member
		var says []byte
		var silent int64
		if err := rows.Scan(&m.ID, &m.Name, &says, &m.Joined, &silent, &m.Gone, &m.Drives); err != nil {
			return err
		}
		var a about
		if err := json.Unmarshal(says, &a); err != nil {
			return unwanted{err}
		}
		m.Version, m.Role, m.Address, m.Live, m.Seal, m.Labels, m.Lag = a.Version, a.Role, a.Address, a.Live, a.Seal, a.Labels, a.Lag
		m.Silent = max(0, time.Duration(silent)*time.Microsecond)
		list = append(list, m)
		return nil
	}, `SELECT member, name, about, joined, (extract(epoch FROM clock_timestamp() - seen) * 1000000)::bigint, expires <= clock_timestamp(),
			(SELECT count(*) FROM mulligan.runs AS runs WHERE runs.member = members.member AND owner <> '' AND `+ends+` > clock_timestamp())
		FROM mulligan.members AS members WHERE expires > clock_timestamp() - interval '1 hour' ORDER BY joined, member`)
	return list, err
}

// claimsDue makes $1, an owner in the member $2, the owner for $3 of at most $6 runs that are due
// by $4 and that wait for a time or not ($5), except the runs in $7, those that the member has not
// released, and those that need labels which are not in $8. Processes that ask at the same time get
// different runs.
var claimsDue = `WITH ` + struck + `, due AS MATERIALIZED (
		SELECT run FROM mulligan.runs AS runs WHERE seq > 0 AND (due_from > 0 AND due_from <= $4 AND due_at <= $4 OR inbox > heard AND NOT ended)
			AND (owner = '' OR member <> $2) AND ` + free + ` AND (status = 'waiting') = $5 AND run <> ALL($7) AND ` + among("$8") + `
		ORDER BY due_at, born, run LIMIT $6 FOR UPDATE SKIP LOCKED
	) UPDATE mulligan.runs AS runs SET epoch = runs.epoch + 1, owner = $1, member = $2, kept = false, expires = clock_timestamp() + $3::interval
	FROM due WHERE runs.run = due.run RETURNING txid_current(), ` + headColumns

// ClaimDue implements timeline.BulkClaimer.
func (s *Store) ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) ([]timeline.Head, error) {
	var heads []timeline.Head
	var by, now int64
	scan := newHeadScan(&now)
	err := s.leases.do(ctx, &write{
		sql: claimsDue, args: []any{owner, s.member, interval(ttl), nanos.Of(at), waiting, limit, fitting(but), timeline.Query{Able: able}.AbleText()},
		read: func(rows pgx.Rows) error {
			h, err := scan.read(rows)
			if now != by { // what an earlier attempt returned may not have been committed
				heads, by = nil, now
			}
			heads = append(heads, h)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return heads, nil
}
