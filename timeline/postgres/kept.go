package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// sends puts a command with the id $2 and the body $3 at the end of the inbox of $1, unless it is
// there already, and returns its position.
const sends = `WITH old AS (
		SELECT n FROM mulligan.commands WHERE run = $1 AND id = $2
	), moved AS (
		UPDATE mulligan.runs SET inbox = inbox + 1 WHERE run = $1 AND NOT EXISTS (SELECT FROM old) RETURNING inbox
	), sent AS (
		INSERT INTO mulligan.commands (run, n, id, body) SELECT $1, inbox, $2, $3 FROM moved RETURNING n
	) SELECT n FROM old UNION ALL SELECT n FROM sent`

// Send implements timeline.Store.
func (s *Store) Send(ctx context.Context, run string, c timeline.Command, sent func(uint64)) (uint64, error) {
	body, err := json.Marshal(recovery.Event{Run: run, Body: c.Body})
	if err != nil {
		return 0, err
	}
	if fits(run) != nil {
		return 0, &timeline.NotFoundError{Run: run}
	}
	var n uint64
	err = s.appends.do(ctx, &write{
		run: run, rings: true, sql: sends, args: []any{run, []byte(c.ID), body},
		read:    func(rows pgx.Rows) error { return rows.Scan(&n) },
		durable: func() { sent(n) },
		refusal: func(context.Context) error { return &timeline.NotFoundError{Run: run} },
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// SaveTail implements timeline.Store. It goes through the committer of the appends, so that it
// cannot overtake the append that ends the tail.
func (s *Store) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	return s.appends.do(ctx, s.saying(l, t))
}

// saying is the write of SaveTail.
func (s *Store) saying(l timeline.Lease, t timeline.Tail) *write {
	return &write{
		run: l.Run, sql: `INSERT INTO mulligan.tails AS tails (run, attempt, seq, start, text)
		SELECT run, $4, seq, $5, $6 FROM mulligan.runs WHERE run = $1 AND epoch = $2 AND owner = $3 FOR SHARE
		ON CONFLICT (run) DO UPDATE SET attempt = excluded.attempt, seq = excluded.seq, start = excluded.start, text = excluded.text RETURNING 1`,
		args:    []any{l.Run, bigint(l.Epoch), l.Owner, bigint(t.Attempt), int64(t.Offset), []byte(t.Text)},
		refusal: func(ctx context.Context) error { return s.staleBy(ctx, l) },
	}
}

// LoadTail implements timeline.Store.
func (s *Store) LoadTail(ctx context.Context, run string) (t timeline.Tail, err error) {
	if fits(run) != nil {
		return t, &timeline.NotFoundError{Run: run}
	}
	there := false
	err = s.query(ctx, func(rows pgx.Rows) error {
		there = true
		var said []byte
		err := rows.Scan(&t.Attempt, &t.Seq, &t.Offset, &said)
		t.Text = string(said)
		return err
	}, `SELECT coalesce(attempt, 0), coalesce(tails.seq, 0), coalesce(start, 0), tails.text
		FROM mulligan.runs AS runs LEFT JOIN mulligan.tails AS tails USING (run) WHERE runs.run = $1`, run)
	if err == nil && !there {
		err = &timeline.NotFoundError{Run: run}
	}
	return t, err
}

// SaveBlob implements timeline.Store.
func (s *Store) SaveBlob(ctx context.Context, l timeline.Lease, b timeline.Blob) error {
	if b.Of.Run == "" {
		return s.appends.do(ctx, &write{sql: `INSERT INTO mulligan.sessions (session, data) VALUES ($1, $2)
			ON CONFLICT (session) DO UPDATE SET data = excluded.data`, args: []any{text(b.Of.Session), b.Data}})
	}
	return s.appends.do(ctx, &write{
		run: l.Run, sql: `WITH owned AS (
			SELECT run FROM mulligan.runs WHERE run = $1 AND epoch = $2 AND owner = $3 AND seq >= $4 FOR SHARE
		), kept AS (
			INSERT INTO mulligan.snapshots AS old (run, seq, data) SELECT run, $4, $5 FROM owned
			ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, data = excluded.data WHERE old.seq <= excluded.seq
		) SELECT 1 FROM owned`,
		args: []any{l.Run, bigint(l.Epoch), l.Owner, bigint(b.Seq), b.Data},
		refusal: func(ctx context.Context) error {
			st, err := s.stands(ctx, l.Run)
			if err == nil && st.Epoch == l.Epoch && st.Owner == l.Owner {
				return &timeline.ConflictError{Run: l.Run, Epoch: l.Epoch, After: b.Seq, Last: st.Seq}
			}
			if err != nil {
				return err
			}
			return st.stale(l)
		},
	})
}

// LoadBlob implements timeline.Store.
func (s *Store) LoadBlob(ctx context.Context, of timeline.BlobOwner) (timeline.Blob, error) {
	b := timeline.Blob{Of: of}
	read := func(rows pgx.Rows) error { return rows.Scan(&b.Seq, &b.Data) }
	if of.Run == "" {
		return b, s.query(ctx, read, "SELECT 0, data FROM mulligan.sessions WHERE session = $1", text(of.Session))
	}
	if fits(of.Run) != nil {
		return b, &timeline.NotFoundError{Run: of.Run}
	}
	err := s.query(ctx, read, "SELECT seq, data FROM mulligan.snapshots WHERE run = $1", of.Run)
	if err == nil && b.Data == nil {
		err = s.known(ctx, of.Run)
	}
	return b, err
}
