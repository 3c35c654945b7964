package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mulligan-run/mulligan/timeline"
)

// passes reports whether what failed may succeed if it is repeated immediately: two transactions
// were in each other's way, one took too long, or the connection is gone and there may be another
// one.
func passes(err error) bool {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch said.Code {
		case "40001", "40P01", "57P01", "57014", "23505": // 23505: another process was faster; the next attempt sees that
			return true
		}
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return !connecting && (network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err))
}

// explain says what a failure of the database means and what to do about it.
func (s *Store) explain(err error) error {
	if u, ok := errors.AsType[unwanted](err); ok {
		return u.error
	}
	if _, ok := errors.AsType[*timeline.StoreError](err); err == nil || ok {
		return err
	}
	e := &timeline.StoreError{File: s.name, Err: unsaid(err)}
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		e.Kind, e.Reason, e.Advice = timeline.ErrGone, "the database does not answer", "see that it runs and can be reached from here"
		return e
	}
	known, ok := reasons[said.Code]
	if !ok {
		known, ok = reasons[said.Code[:min(2, len(said.Code))]]
	}
	if !ok {
		known = reason{nil, "the database refused", ""}
	}
	e.Kind, e.Reason, e.Advice = known.kind, known.text, known.advice
	return e
}

type reason struct {
	kind         error
	text, advice string
}

// reasons has what is said about the database's error codes, or classes of them.
var reasons = map[string]reason{
	"53100": {timeline.ErrFull, "no space left on the database's disk", "free some, for example by `mulligan runs prune`"},
	"53200": {timeline.ErrBusy, "the database has not enough memory", "give it more, or fewer connections"},
	"53300": {timeline.ErrBusy, "the database takes no more connections", "raise max_connections, or put a pooler in front of it"},
	"25006": {timeline.ErrReadOnly, "the database takes no writes: it is a standby, or set to read only", "name the primary in the store's address"},
	"42501": {timeline.ErrReadOnly, "this role may not do that", "grant it, or run `mulligan store migrate` as a role that may"},
	"42P01": {timeline.ErrGone, "the timeline's tables are gone", "restore them from a backup"},
	"3D000": {timeline.ErrGone, "there is no such database", "make it with `createdb`, or correct the store's address"},
	"28":    {timeline.ErrGone, "the database does not know this role or its password", "see the store's address, and the file that PGPASSFILE names"},
	"57014": {timeline.ErrBusy, "the database took too long", "see what else it is at"},
	"55P03": {timeline.ErrBusy, "somebody else holds what is to be written", "see who: select * from pg_stat_activity"},
	"57":    {timeline.ErrGone, "the database is starting or stopping", "wait for it"},
	"08":    {timeline.ErrGone, "the connection to the database broke", "see that it runs and can be reached from here"},
	"58":    {timeline.ErrDisk, "the database's disk failed", "look at the database's log"},
	"XX":    {timeline.ErrDamaged, "the database is damaged", "look at its log, and restore it from a backup"},
}

// unsaid is err without the parameters of a connection, which may hold a password.
func unsaid(err error) error {
	if parsing, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		return parsing.Unwrap()
	}
	text := err.Error()
	if at := strings.Index(text, "password="); at >= 0 {
		return errors.New(text[:at] + "…")
	}
	return err
}
