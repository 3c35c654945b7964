package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// claims makes $2, an owner in the member $3, the owner of $1 for $4.
const claims = `WITH ` + struck + ` INSERT INTO mulligan.runs AS runs (run, epoch, owner, member, expires)
	VALUES ($1, 1, $2, $3, clock_timestamp() + $4::interval)
	ON CONFLICT (run) DO UPDATE SET epoch = runs.epoch + 1, owner = excluded.owner, member = excluded.member, expires = excluded.expires, kept = false
	WHERE ` + free + ` OR runs.owner = $2 AND runs.member = $3 RETURNING ` + headColumns

// Claim implements timeline.Store.
func (s *Store) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Head, error) {
	if err := fits(run); err != nil {
		return timeline.Head{}, err
	}
	var lent timeline.Head
	err := s.leases.do(ctx, &write{
		run: run, sql: claims, args: []any{run, owner, s.member, interval(ttl)},
		read: func(rows pgx.Rows) (err error) {
			lent, err = newHeadScan().read(rows)
			return err
		},
		refusal: func(ctx context.Context) error { return s.ownedBy(ctx, run) },
	})
	if err != nil {
		return timeline.Head{}, err
	}
	return lent, nil
}

// Hold implements timeline.Store.
func (s *Store) Hold(ctx context.Context, l timeline.Lease, ttl time.Duration) error {
	sql := "UPDATE mulligan.runs SET member = $4, kept = true, expires = clock_timestamp() + $5::interval WHERE run = $1 AND epoch = $2 AND owner = $3 AND owner <> '' RETURNING 1"
	args := []any{l.Run, int64(l.Epoch), l.Owner, s.member, interval(ttl)} //nolint:gosec // the store gave it
	if ttl == 0 {
		sql, args = "UPDATE mulligan.runs SET owner = '' WHERE run = $1 AND epoch = $2 RETURNING 1", args[:2]
	}
	return s.leases.do(ctx, &write{run: l.Run, sql: sql, args: args, refusal: func(ctx context.Context) error { return s.staleBy(ctx, l) }})
}

// What an append writes besides the run's row, if it changed that: $1 is the run, $2 and $3 the
// seqs and stored forms of the events, $4 whether they end the tail.
const writes = `, written AS (
		INSERT INTO mulligan.events (run, seq, event) SELECT $1::text, e.seq, e.event FROM unnest($2::bigint[], $3::bytea[]) AS e (seq, event), changed
	), over AS (
		DELETE FROM mulligan.tails WHERE run = $1::text AND $4::boolean AND EXISTS (SELECT FROM changed)
	) SELECT 1 FROM changed`

// summary are the columns of a Summary except its owner, as $5 and so on.
const summary = `(seq, session, model, title, labels, status, started_at, updated_at, waiting_for, waiting_until, due_at, suggestion_open, asking, ended, heard, kind, problem, decided_by, course, words, needs)
	= ($5::bigint, $6::text, $7::text, $8::text, $9::text, $10::text, $11::bigint, $12::bigint, $13::text, $14::bigint, $15::bigint, $16::boolean, $17::text, $18::boolean, $19::bigint, $20::text, $21::text, $22::text, $23::text, $24::text, $25::text)`

// joins appends the first event of a run of a session, under the lease ($26, $27), if the last seq
// is $28. It continues the run $29.
const joins = `WITH ` + place + `, changed AS (
		UPDATE mulligan.runs AS runs SET ` + summary + `, due_from = $15::bigint, turn = place.turn FROM place
		WHERE runs.run = $1::text AND epoch = $26::bigint AND owner = $27::text AND seq = $28::bigint AND NOT EXISTS (SELECT FROM last WHERE last.born > runs.born) RETURNING 1
	)` + writes

// place is the turn that a run gets in the session $6, if it may join that. Turns are unique, so
// that of two runs that join at once only one does.
const place = `last AS (
		SELECT run, turn, ended, born FROM mulligan.runs WHERE session <> '' AND session = $6::text AND seq > 0 ORDER BY turn DESC LIMIT 1
	), place AS (
		SELECT coalesce((SELECT turn FROM last), 0) + 1 AS turn WHERE NOT EXISTS (SELECT FROM last WHERE NOT ended OR run <> $29::text)
	)`

// begins claims a run under the lease ($26, $27) with its first events; $28 is the position of its
// inbox, $30 the member and $31 how long the lease holds.
const begins = `WITH ` + struck + `, ` + place + `, changed AS (
		INSERT INTO mulligan.runs AS runs (run, seq, session, model, title, labels, status, started_at, updated_at, waiting_for, waiting_until, due_at,
			suggestion_open, asking, ended, heard, kind, problem, decided_by, course, words, needs, due_from, epoch, owner, inbox, member, expires, turn)
		SELECT $1::text, $5::bigint, $6::text, $7::text, $8::text, $9::text, $10::text, $11::bigint, $12::bigint, $13::text, $14::bigint, $15::bigint, $16::boolean, $17::text, $18::boolean, $19::bigint, $20::text, $21::text, $22::text, $23::text, $24::text, $25::text, $15::bigint, $26::bigint, $27::text, $28::bigint, $30::text, clock_timestamp() + $31::interval,
			CASE WHEN $6::text = '' THEN 0 ELSE place.turn END FROM place
		ON CONFLICT (run) DO UPDATE SET ` + summary + `, due_from = excluded.due_from, epoch = excluded.epoch, owner = excluded.owner,
			inbox = greatest(runs.inbox, excluded.inbox), member = excluded.member, expires = excluded.expires, kept = false, turn = excluded.turn
		WHERE runs.seq = 0 AND runs.epoch < excluded.epoch AND (` + free + ` OR runs.owner = excluded.owner AND runs.member = excluded.member)
			AND NOT EXISTS (SELECT FROM last WHERE last.born > runs.born) RETURNING 1
	)` + writes

// Append implements timeline.Store.
func (s *Store) Append(ctx context.Context, a *timeline.Append) error {
	w, err := s.appending(a)
	if err != nil {
		return err
	}
	return s.appends.do(ctx, w)
}

// appending is the write for a.
func (s *Store) appending(a *timeline.Append) (*write, error) {
	if err := fits(a.Lease.Run); err != nil {
		return nil, err
	}
	stored, err := a.Stored()
	if err != nil {
		return nil, err
	}
	w := &write{run: a.Lease.Run, rings: true, durable: a.Durable, refusal: func(ctx context.Context) error { return s.refusal(ctx, a) }}
	switch l := a.Lease; {
	case len(a.Events) == 0: // only the fence is checked
		w.sql, w.args = "SELECT 1 FROM mulligan.runs WHERE run = $1 AND epoch = $2 AND owner = $3 AND seq = $4", []any{l.Run, bigint(l.Epoch), l.Owner, bigint(a.After)}
	case a.Begins != nil || a.Joins() != "":
		w.sql, w.args = s.first(a, stored)
	default:
		w.more = &extension{a, stored}
	}
	return w, nil
}

// first is the statement that appends the first events of a run.
func (s *Store) first(a *timeline.Append, stored [][]byte) (sql string, args []any) {
	seqs := make([]int64, len(a.Events))
	for i, e := range a.Events {
		seqs[i] = bigint(e.Seq)
	}
	args = append([]any{a.Lease.Run, seqs, stored, a.EndsTail}, summaryOf(a.Head)...)
	args = append(args, bigint(a.Lease.Epoch), a.Lease.Owner)
	if a.Begins == nil {
		return joins, append(args, bigint(a.After), continued(a))
	}
	return begins, append(args, bigint(a.Begins.Inbox), continued(a), s.member, interval(a.Begins.TTL))
}

// summaryOf are the values of the columns of summary.
func summaryOf(h timeline.Summary) []any {
	return []any{
		bigint(h.Seq), text(h.Session), text(h.Model), text(h.Title), text(string(h.Labels)), string(h.Status),
		nanos.Of(h.StartedAt), nanos.Of(h.UpdatedAt), string(h.WaitingFor), nanos.Of(h.WaitingUntil), nanos.Of(h.DueAt),
		h.SuggestionOpen, text(h.Asking), h.Ended, bigint(h.Heard),
		string(h.Kind), text(h.Problem), text(h.DecidedBy), text(string(h.Course)), text(h.Words()), text(string(h.Needs)),
	}
}

// continued is the run that a's run continues in its session.
func continued(a *timeline.Append) string {
	if started, ok := a.Events[0].Body.(recovery.Started); ok && started.Continues != nil {
		return text(started.Continues.Run)
	}
	return ""
}
