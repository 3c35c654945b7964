package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// errDigest is what only a database that somebody else wrote to can hold.
var errDigest = errors.New("a digest in the database has another length")

// durably has the transaction wait for its sync: what must not hold again if the database breaks.
const durably = "set_config('synchronous_commit', 'on', true)"

// Grant keeps a secret of a kind for life, which a token vouches for, as gateway.Credentials has
// it: both are digests. What has ended goes with it, and of more than most of the kind what ends
// first.
func (s *Store) Grant(ctx context.Context, kind string, secret, token [32]byte, life time.Duration, most int) error {
	_, err := s.note(ctx, `WITH gone AS (
			DELETE FROM mulligan.grants WHERE kind = $1 AND (expires <= clock_timestamp()
				OR secret IN (SELECT secret FROM mulligan.grants WHERE kind = $1 ORDER BY expires DESC OFFSET greatest($5::integer - 1, 0)))
		) INSERT INTO mulligan.grants (kind, secret, token, expires) VALUES ($1, $2, $3, clock_timestamp() + $4::interval)`,
		kind, secret[:], token[:], interval(life), most)
	return err
}

// Granted gives the token that vouched for a secret which holds; take ends that.
func (s *Store) Granted(ctx context.Context, kind string, secret [32]byte, take bool) (token [32]byte, ok bool, err error) {
	var found [][32]byte
	const held = "kind = $1 AND secret = $2 AND expires > clock_timestamp()"
	if take {
		w := &write{sql: "DELETE FROM mulligan.grants WHERE " + held + " RETURNING token, " + durably, args: []any{kind, secret[:]}}
		w.read = func(rows pgx.Rows) error { return scanDigest(rows, &found, nil) }
		err = s.facts.do(ctx, w)
	} else {
		err = s.query(ctx, func(rows pgx.Rows) error { return scanDigest(rows, &found) }, "SELECT token FROM mulligan.grants WHERE "+held, kind, secret[:])
	}
	if err != nil || len(found) == 0 {
		return token, false, err
	}
	return found[0], true, nil
}

// Revoke ends a secret, if it holds.
func (s *Store) Revoke(ctx context.Context, kind string, secret [32]byte) error {
	_, err := s.note(ctx, "DELETE FROM mulligan.grants WHERE kind = $1 AND secret = $2 RETURNING "+durably, kind, secret[:])
	return err
}

// HoldToken makes token, a digest, the one of an installation for life.
func (s *Store) HoldToken(ctx context.Context, installation string, token [32]byte, life time.Duration) error {
	_, err := s.note(ctx, `WITH gone AS (DELETE FROM mulligan.tokens WHERE expires <= clock_timestamp() AND installation <> $1)
		INSERT INTO mulligan.tokens (installation, token, expires) VALUES ($1, $2, clock_timestamp() + $3::interval)
		ON CONFLICT (installation) DO UPDATE SET token = excluded.token, expires = excluded.expires RETURNING `+durably,
		text(installation), token[:], interval(life))
	return err
}

// Tokens gives the digests of those of all installations that hold.
func (s *Store) Tokens(ctx context.Context) (tokens [][32]byte, err error) {
	err = s.query(ctx, func(rows pgx.Rows) error { return scanDigest(rows, &tokens) },
		"SELECT token FROM mulligan.tokens WHERE expires > clock_timestamp()")
	return tokens, err
}

func scanDigest(rows pgx.Rows, found *[][32]byte, beside ...any) error {
	var stored []byte
	if err := rows.Scan(append([]any{&stored}, beside...)...); err != nil {
		return err
	}
	if len(stored) != 32 {
		return unwanted{errDigest}
	}
	*found = append(*found, [32]byte(stored))
	return nil
}
