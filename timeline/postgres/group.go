package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline"
)

// step is one statement of a transaction, with the writes that it makes: a single one, or several
// that extend runs.
type step struct {
	sql    string
	args   []any
	writes []*write
	runs   map[string]*write // by run, if the step extends runs
}

// stepsOf are the statements for a group of writes. Those that extend runs share one, unless
// another write to the same run has to be made between two of them.
func stepsOf(group []*write) []*step {
	var steps []*step
	last := map[string]int{} // by run, the last step about it
	shared := -1             // the step that extends runs
	for _, w := range group {
		at, known := last[w.run]
		switch {
		case w.more == nil:
			steps = append(steps, &step{sql: w.sql, args: w.args, writes: []*write{w}})
			last[w.run] = len(steps) - 1
			continue
		case shared < 0 || known && at >= shared:
			steps = append(steps, &step{sql: extends, runs: map[string]*write{}})
			shared = len(steps) - 1
		}
		s := steps[shared]
		s.writes, s.runs[w.run], last[w.run] = append(s.writes, w), w, shared
	}
	for _, s := range steps {
		if s.runs != nil {
			s.args = extensionsOf(s.writes)
		}
	}
	return steps
}

// take reads the rows of the statement; a retry begins again.
func (s *step) take(rows pgx.Rows) error {
	for _, w := range s.writes {
		w.rows = 0
	}
	var run string
	for rows.Next() {
		w := s.writes[0]
		if s.runs != nil {
			if err := rows.Scan(&run); err != nil {
				return err
			}
			w = s.runs[run]
		}
		w.rows++
		if w.read != nil {
			if err := w.read(rows); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// extension is an append to a run that already exists.
type extension struct {
	*timeline.Append
	stored [][]byte
}

// extends appends to runs: to each that has that epoch and owner as its newest lease, and after as
// its last seq, whatever happens to the others. It returns the runs that it changed.
const extends = `WITH changed AS (
		UPDATE mulligan.runs AS runs SET inbox = greatest(runs.inbox, new.heard), (seq, session, model, title, labels, status, started_at, updated_at, waiting_for, waiting_until, due_at,
			suggestion_open, asking, ended, heard, kind, problem, decided_by, course, words, needs, due_from)
			= (new.seq, new.session, new.model, new.title, new.labels, new.status, new.started_at, new.updated_at, new.waiting_for, new.waiting_until, new.due_at,
			new.suggestion_open, new.asking, new.ended, new.heard, new.kind, new.problem, new.decided_by, new.course, new.words, new.needs, CASE WHEN new.due_at = 0 THEN 0
				WHEN due_from > 0 AND due_from <= new.due_at AND new.due_at - due_from < 600000000000 THEN due_from ELSE new.due_at END)
		FROM unnest($4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::boolean[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
			$15::bigint[], $16::bigint[], $17::text[], $18::bigint[], $19::bigint[], $20::boolean[], $21::text[], $22::boolean[], $23::bigint[],
			$24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[])
			AS new (run, epoch, owner, after, ends_tail, seq, session, model, title, labels, status,
			started_at, updated_at, waiting_for, waiting_until, due_at, suggestion_open, asking, ended, heard, kind, problem, decided_by, course, words, needs)
		WHERE runs.run = new.run AND runs.epoch = new.epoch AND runs.owner = new.owner AND runs.seq = new.after RETURNING new.run, new.ends_tail
	), written AS (
		INSERT INTO mulligan.events (run, seq, event) SELECT e.run, e.seq, e.event FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS e (run, seq, event) JOIN changed USING (run)
	), over AS (
		DELETE FROM mulligan.tails USING changed WHERE tails.run = changed.run AND changed.ends_tail
	) SELECT run FROM changed`

// extensionsOf are the arguments of extends.
func extensionsOf(writes []*write) []any {
	var runs []string
	var seqs []int64
	var stored [][]byte
	rows := make([][]any, 0, len(writes))
	for _, w := range writes {
		l, a := w.more.Lease, w.more
		for i, e := range a.Events {
			runs, seqs, stored = append(runs, w.run), append(seqs, bigint(e.Seq)), append(stored, a.stored[i])
		}
		rows = append(rows, append([]any{w.run, bigint(l.Epoch), l.Owner, bigint(a.After), a.EndsTail}, summaryOf(a.Head)...))
	}
	return append([]any{runs, seqs, stored}, columnsOf(rows)...)
}

// columnsOf turns rows into an array for each column, as the database takes many rows at once.
func columnsOf(rows [][]any) []any {
	columns := make([]any, len(rows[0]))
	for i, first := range rows[0] {
		switch first.(type) {
		case string:
			columns[i] = columnOf[string](rows, i)
		case int64:
			columns[i] = columnOf[int64](rows, i)
		case bool:
			columns[i] = columnOf[bool](rows, i)
		}
	}
	return columns
}

func columnOf[T any](rows [][]any, i int) []T {
	column := make([]T, 0, len(rows))
	for _, row := range rows {
		value, _ := row[i].(T)
		column = append(column, value)
	}
	return column
}
