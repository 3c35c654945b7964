package postgres

import (
	"context"
	"time"
	_ "time/tzdata" // the database's time zone is then known on every machine

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
)

var _ health.Store = (*Store)(nil)

// Look implements health.Store. The zone is the database's: ALTER DATABASE … SET timezone = '…'.
func (s *Store) Look(ctx context.Context) (health.Known, error) {
	known := health.Known{Cooldowns: map[string]health.Cooldown{}, Spent: map[string]recovery.Budget{}, Zone: time.UTC}
	err := s.query(ctx, func(rows pgx.Rows) error {
		var what, name string
		var a, b, c int64
		if err := rows.Scan(&what, &name, &a, &b, &c); err != nil {
			return err
		}
		switch what {
		case "zone":
			known.Members = int(a)
			if zone, err := time.LoadLocation(name); err == nil {
				known.Zone = zone // otherwise every machine counts in UTC
			}
		case "spent":
			known.Spent[name] = recovery.Budget{Tokens: a, Microdollars: b}
		default:
			known.Cooldowns[name] = health.Cooldown{Kind: failure.Kind(what), Left: time.Duration(a) * time.Microsecond, Failures: int(b), Version: c}
		}
		return nil
	}, `SELECT 'zone', current_setting('TimeZone'), (SELECT count(*) FROM mulligan.members WHERE expires > clock_timestamp()), 0, 0
		UNION ALL (SELECT 'spent', day, tokens, microdollars, 0 FROM mulligan.spent ORDER BY day DESC LIMIT 3)
		UNION ALL (SELECT kind, scope, (extract(epoch FROM until - clock_timestamp()) * 1000000)::bigint, failures, version FROM mulligan.cooldowns
			WHERE until > clock_timestamp() - interval '1 day' ORDER BY until DESC LIMIT 1000)`)
	return known, err
}

// Cool implements health.Store. It also removes what was over a day ago.
func (s *Store) Cool(ctx context.Context, scope string, c health.Cooldown) (ok bool, err error) {
	return s.note(ctx, `WITH old AS (
			DELETE FROM mulligan.cooldowns WHERE until < clock_timestamp() - interval '1 day' AND scope <> $1
		) INSERT INTO mulligan.cooldowns AS old (scope, kind, until, failures, version)
		SELECT $1::text, $2::text, clock_timestamp() + $3::bigint * interval '1 microsecond', $4::integer, $5::bigint + 1
			WHERE $5::bigint = 0 OR EXISTS (SELECT FROM mulligan.cooldowns WHERE scope = $1::text)
		ON CONFLICT (scope) DO UPDATE SET kind = excluded.kind, until = excluded.until, failures = excluded.failures, version = excluded.version
		WHERE old.version = $5::bigint RETURNING 1`,
		text(scope), text(string(c.Kind)), c.Left.Microseconds(), c.Failures, c.Version)
}

// Warm implements health.Store.
func (s *Store) Warm(ctx context.Context, scopes ...string) error {
	for i, scope := range scopes {
		scopes[i] = text(scope)
	}
	_, err := s.note(ctx, "DELETE FROM mulligan.cooldowns WHERE scope = ANY($1) RETURNING 1", scopes)
	return err
}

// reserves adds $2 and $3 to what was spent on the day $1, if the limit of $4 and $5 has room for
// that. Rows of past days are removed with the first one of a new day.
const reserves = `WITH counted AS (
		INSERT INTO mulligan.spent AS old (day, tokens, microdollars)
		SELECT $1::text, greatest(0, $2::bigint), greatest(0, $3::bigint) WHERE ($4::bigint <= 0 OR $2::bigint <= $4::bigint) AND ($5::bigint <= 0 OR $3::bigint <= $5::bigint)
		ON CONFLICT (day) DO UPDATE SET tokens = greatest(0, least(9223372036854775807, old.tokens::numeric + $2::bigint))::bigint,
			microdollars = greatest(0, least(9223372036854775807, old.microdollars::numeric + $3::bigint))::bigint
		WHERE ($4::bigint <= 0 OR old.tokens < $4::bigint AND old.tokens::numeric + $2::bigint <= $4::bigint)
			AND ($5::bigint <= 0 OR old.microdollars < $5::bigint AND old.microdollars::numeric + $3::bigint <= $5::bigint)
		RETURNING tokens, microdollars
	), gone AS (
		DELETE FROM mulligan.spent WHERE day < (SELECT max(day) FROM mulligan.spent) AND day NOT IN (SELECT day FROM mulligan.spent ORDER BY day DESC LIMIT 3)
	) SELECT true, tokens - $2::bigint, microdollars - $3::bigint FROM counted
	UNION ALL SELECT false, tokens, microdollars FROM mulligan.spent WHERE day = $1::text AND NOT EXISTS (SELECT FROM counted)`

// Reserve implements health.Store.
func (s *Store) Reserve(ctx context.Context, day string, reserve, limit recovery.Budget) (spent recovery.Budget, ok bool, err error) {
	err = s.facts.do(ctx, &write{
		sql: reserves, args: []any{text(day), reserve.Tokens, reserve.Microdollars, limit.Tokens, limit.Microdollars},
		read: func(rows pgx.Rows) error { return rows.Scan(&ok, &spent.Tokens, &spent.Microdollars) },
	})
	if err != nil {
		return recovery.Budget{}, false, err
	}
	return spent, ok, nil
}

// note writes something that does not belong to a run, in a transaction that does not wait for its
// sync; ok says that it returned a row.
func (s *Store) note(ctx context.Context, sql string, args ...any) (ok bool, err error) {
	w := &write{sql: sql, args: args}
	if err := s.facts.do(ctx, w); err != nil {
		return false, err
	}
	return w.rows > 0, nil
}
