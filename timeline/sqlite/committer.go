package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// maxGroup is how many writes may share a transaction.
const maxGroup = 256

// pace is the least time between two transactions with deferred writes. Nobody waits for those:
// they save text that followers already have, and keep or release leases. Without a pause the disk
// would sync all the time for one or two of them while hundreds of runs stream, and a run that
// begins or ends would have to wait for it.
const pace = 20 * time.Millisecond

// write is one write. do checks that it is allowed before it changes anything; an error marked by
// refuse leaves the transaction usable. do may be called again in another transaction; its ctx is
// the committer's, not the caller's. shown is called once the write is durable.
type write struct {
	ctx   context.Context
	do    func(context.Context, *statements) error
	shown func()
	done  chan error

	refusal error // set by the committer: why it was not written
}

// refused marks an error of the write itself, as opposed to one of the database.
type refused struct{ error }

func refuse(err error) error { return refused{err} }

func (r refused) Unwrap() error { return r.error }

// submit gives a write to the committer and waits for its commit.
func (s *store) submit(ctx context.Context, do func(context.Context, *statements) error, shown func()) error {
	return s.submitTo(ctx, s.writes, do, shown)
}

// submitTo is submit through s.writes or s.deferred.
func (s *store) submitTo(ctx context.Context, writes chan<- *write, do func(context.Context, *statements) error, shown func()) error {
	w := &write{ctx: ctx, do: do, shown: shown, done: make(chan error, 1)}
	select {
	case <-s.closing:
		return timeline.ErrClosed
	default:
	}
	if s.readOnly != nil {
		return s.readOnly
	}
	if err := s.hand(ctx, writes, w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err() // only the store knows whether it is being written
	}
}

// hand gives w to the committer.
func (s *store) hand(ctx context.Context, writes chan<- *write, w *write) error {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	select {
	case writes <- w:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return timeline.ErrClosed
	}
}

// commit is the committer's goroutine; it ends when the store closes.
func (s *store) commit() {
	defer close(s.committed)
	deferred, paced := s.deferred, time.NewTimer(pace)
	defer paced.Stop()
	for {
		select {
		case w := <-s.writes:
			s.commitGroup(w, nil)
		case w := <-deferred:
			s.commitGroup(w, s.deferred)
			deferred = nil
			paced.Reset(pace)
		case <-paced.C:
			deferred = s.deferred
		case c := <-s.chores:
			c.done <- c.do(context.WithoutCancel(c.ctx))
		case <-s.closing:
			return
		}
	}
}

// commitGroup writes first and what joins it, also from deferred, in one transaction. If the
// database fails, it writes each one in its own transaction, so that no write fails because of
// another.
func (s *store) commitGroup(first *write, deferred <-chan *write) {
	group, err := s.transact(first, func() *write { return s.next(deferred) })
	s.committedOne()
	if err == nil || len(group) == 1 {
		s.answer(group, err)
		return
	}
	for _, w := range group {
		s.answer(s.transact(w, nobody))
	}
}

// next is the next waiting write, also from deferred. It is nil if none is waiting after other
// goroutines have had a chance to run: callers that the last commit answered often write again
// immediately.
func (s *store) next(deferred <-chan *write) *write {
	for asked := false; ; asked = true {
		select {
		case w := <-s.writes:
			return w
		case w := <-deferred:
			return w
		default:
		}
		if asked {
			return nil
		}
		runtime.Gosched()
	}
}

// nobody keeps a write alone in its transaction.
func nobody() *write { return nil }

// answer tells the writes of a group how they ended.
func (s *store) answer(group []*write, err error) {
	for _, w := range group {
		if err != nil {
			w.done <- s.explain(err)
			continue
		}
		if w.refusal == nil && w.shown != nil {
			w.shown()
		}
		w.done <- w.refusal
	}
}

// transact writes first and whatever next gives, until that is nil, in one transaction: while it
// works on some, others get ready to join. It returns the writes that it took as group.
func (s *store) transact(first *write, next func() *write) (group []*write, err error) {
	ctx := context.Background() // the end of one caller's context must not interrupt the others
	st := s.statements
	group = []*write{first}
	if err := s.isThere(); err != nil {
		return group, err
	}
	if _, err := st.begin.ExecContext(ctx); err != nil {
		return group, err
	}
	defer func() {
		if err != nil {
			_, _ = st.rollback.ExecContext(ctx) // SQLite may have rolled back already
			st.forget()
			st.small = st.small[:0]
		}
	}()
	if err := st.refresh(); err != nil {
		return group, err
	}
	for w := first; w != nil; {
		if err := w.perform(ctx, st); err != nil {
			return group, err
		}
		if w = nil; len(group) < maxGroup {
			w = next()
		}
		if w != nil {
			group = append(group, w)
		}
	}
	if err := st.settle(ctx); err != nil {
		return group, err
	}
	if _, err = st.commit.ExecContext(ctx); err == nil {
		st.committed()
	}
	return group, err
}

// perform does the write in the transaction. Its error is the database's.
func (w *write) perform(ctx context.Context, st *statements) error {
	var err error
	if w.refusal = w.ctx.Err(); w.refusal == nil {
		err = w.do(ctx, st)
	}
	if no, ok := errors.AsType[refused](err); ok {
		w.refusal, err = no.error, nil
	}
	return err
}

// statements are the writer's prepared statements, and the runs that it remembers.
type statements struct {
	begin, commit, rollback, version, recent, several, ends, whole, empty                               *sql.Stmt
	head, create, claim, lease, insert, summary, moved, command, send, inbox, newest, session, snapshot *sql.Stmt
	tail, untail                                                                                        *sql.Stmt

	writer *sql.Conn
	all    []*sql.Stmt
	heads
	small   []any      // rows for recent that are written later in this transaction
	waiting int64      // how many rows recent has, at least
	moving  []newPiece // on their way from recent to events; the memory is used again
	lines   []byte     // theirs, of maxRecent events at most
	packer  packer
}

// close closes the statements: SQLite keeps a connection and its files open as long as one of its
// statements is open, and database/sql does not close statements that were prepared on a Conn.
func (st *statements) close() error {
	var errs []error
	for _, stmt := range st.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

func prepareStatements(ctx context.Context, conn *sql.Conn) (*statements, error) {
	st := &statements{writer: conn, heads: heads{known: map[string]*head{}}}
	for _, p := range []struct {
		stmt **sql.Stmt
		sql  string
	}{
		{&st.begin, "BEGIN IMMEDIATE"},
		{&st.commit, "COMMIT"},
		{&st.rollback, "ROLLBACK"},
		{&st.version, "PRAGMA data_version"},
		{&st.head, selectHead},
		{&st.claim, "INSERT INTO runs (run, epoch, owner, lock, expires) VALUES (?, ?, ?, ?, ?)"},
		{&st.lease, "UPDATE runs SET epoch = ?, owner = ?, lock = ?, expires = ? WHERE n = ?"},
		{&st.insert, "INSERT INTO events (run, seq, event) VALUES (?, ?, ?)"},
		{&st.recent, insertRecent + recentRow},
		{&st.several, insertSeveral},
		{&st.ends, `UPDATE runs SET seq = heads.seq, updated_at = heads.updated_at, due_at = heads.due_at, course = heads.course
			FROM heads WHERE heads.n = runs.n AND runs.n IN (SELECT run FROM recent)`},
		{&st.whole, "SELECT " + joined([]string{"run", "seq", "piece"}, []string{"event"}) + " FROM recent ORDER BY run, seq"},
		{&st.empty, "DELETE FROM recent"},
		{&st.summary, "UPDATE runs SET (" + strings.Join(storedColumns, ", ") + ") = (" + placeholders(len(storedColumns)) + ") WHERE n = ?"},
		{&st.create, "INSERT INTO runs (run, epoch, owner, lock, expires, inbox, " + strings.Join(storedColumns, ", ") + ") VALUES (" +
			placeholders(6+len(storedColumns)) + ") ON CONFLICT (run) DO NOTHING"},
		{&st.moved, "UPDATE runs SET seq = ?, updated_at = ?, due_at = ?, course = ? WHERE n = ?"},
		{&st.command, "SELECT n FROM commands WHERE run = ? AND id = ?"},
		{&st.send, "INSERT INTO commands (run, n, id, body) VALUES (?, ?, ?, ?)"},
		{&st.inbox, "UPDATE runs SET inbox = ? WHERE n = ?"},
		{&st.newest, "SELECT " + headColumns + " FROM heads WHERE session = ? AND seq > 0 ORDER BY n DESC LIMIT 1"},
		{&st.session, "INSERT INTO sessions (session, defaults) VALUES (?, ?) ON CONFLICT DO UPDATE SET defaults = excluded.defaults"},
		{&st.snapshot, `INSERT INTO snapshots (run, seq, data) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET seq = excluded.seq, data = excluded.data WHERE excluded.seq >= seq`},
		{&st.tail, "INSERT OR REPLACE INTO tails (run, attempt, seq, start, text) VALUES (?, ?, ?, ?, ?)"},
		{&st.untail, "DELETE FROM tails WHERE run = ?"},
	} {
		stmt, err := conn.PrepareContext(ctx, p.sql) //nolint:sqlclosecheck // closed by close
		if err != nil {
			return nil, errors.Join(err, st.close())
		}
		*p.stmt, st.all = stmt, append(st.all, stmt)
	}
	return st, nil
}
