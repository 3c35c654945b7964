package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// errDigest is for a digest that this package cannot have written.
var errDigest = errors.New("a digest in the database has another length")

// durably makes the transaction wait for its sync: what has ended must not be valid again if the
// database crashes.
const durably = "set_config('synchronous_commit', 'on', true)"

// Grant keeps a secret of a kind, which a token vouches for, for life; see gateway.Credentials.
// Both are digests. Expired secrets of the kind are removed, and if there are more than most, those
// that expire first.
func (s *Store) Grant(ctx context.Context, kind string, secret, token [32]byte, life time.Duration, most int) error {
	_, err := s.note(ctx, `WITH gone AS (
			DELETE FROM mulligan.grants WHERE kind = $1 AND (expires <= clock_timestamp()
				OR secret IN (SELECT secret FROM mulligan.grants WHERE kind = $1 ORDER BY expires DESC OFFSET greatest($5::integer - 1, 0)))
		) INSERT INTO mulligan.grants (kind, secret, token, expires) VALUES ($1, $2, $3, clock_timestamp() + $4::interval)`,
		kind, secret[:], token[:], interval(life), most)
	return err
}

// Granted gives the token that vouched for a valid secret; take also ends the secret.
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

// Revoke ends a secret, if it is valid.
func (s *Store) Revoke(ctx context.Context, kind string, secret [32]byte) error {
	_, err := s.note(ctx, "DELETE FROM mulligan.grants WHERE kind = $1 AND secret = $2 RETURNING "+durably, kind, secret[:])
	return err
}

// HoldToken makes token, a digest, valid as the token of an installation for life.
func (s *Store) HoldToken(ctx context.Context, installation string, token [32]byte, life time.Duration) error {
	_, err := s.note(ctx, `WITH gone AS (DELETE FROM mulligan.tokens WHERE expires <= clock_timestamp() AND installation <> $1)
		INSERT INTO mulligan.tokens (installation, token, expires) VALUES ($1, $2, clock_timestamp() + $3::interval)
		ON CONFLICT (installation) DO UPDATE SET token = excluded.token, expires = excluded.expires RETURNING `+durably,
		text(installation), token[:], interval(life))
	return err
}

// Tokens gives the digests of the valid tokens of all installations.
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
