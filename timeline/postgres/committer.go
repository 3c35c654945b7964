package postgres

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mulligan-run/mulligan/timeline"
)

// maxGroup is how many writes may share a transaction.
const maxGroup = 256

// write is one statement, which either does everything and gives rows or, refused, does nothing and
// gives none. It may be made again if it is unknown whether it was made: it is then refused, or
// changes nothing.
type write struct {
	run   string // the run that it is about; writes about the same run keep their order
	sql   string
	args  []any
	rings bool       // other processes are told of it
	more  *extension // instead of sql and args: an append that may share a statement
	// read reads a row; it may be called again for the same rows.
	read func(pgx.Rows) error
	// durable is called once the write is durable, unless it was refused.
	durable func()
	// refusal says why it was refused; nil if a refusal is not a failure. It is called by the
	// caller that waits for the answer, so no other write waits for it.
	refusal func(ctx context.Context) error

	ctx    context.Context
	rows   int // set by the committer: how many it gave
	answer chan error
}

// errRefused is the answer to a write that gave no row.
var errRefused = errors.New("refused")

// committer makes writes on its own connection: those that wait, up to maxGroup, in one
// transaction, which costs one round trip and one sync.
type committer struct {
	store  *Store
	pool   *pgxpool.Pool // of one connection
	writes chan *write
}

func newCommitter(s *Store, pool *pgxpool.Pool) *committer {
	return &committer{store: s, pool: pool, writes: make(chan *write)}
}

// do hands w to the committer and waits for its commit.
func (c *committer) do(ctx context.Context, w *write) error {
	if c.store.ctx.Err() != nil {
		return timeline.ErrClosed
	}
	w.ctx, w.answer = ctx, make(chan error, 1)
	select {
	case c.writes <- w:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.store.ctx.Done():
		return timeline.ErrClosed
	}
	select {
	case err := <-w.answer:
		if err == errRefused { //nolint:errorlint // the committer returns it as it is
			return w.refusal(ctx)
		}
		return err
	case <-ctx.Done():
		return ctx.Err() // it is being written, or not: only the store knows
	}
}

// run is the committer's goroutine; it ends with the store.
func (c *committer) run(ctx context.Context) {
	for {
		select {
		case w := <-c.writes:
			c.commit(ctx, c.gather(w))
		case <-ctx.Done():
			return
		}
	}
}

// gather is first and what waits with it. Callers that the last commit answered often write again
// as soon as they may run.
func (c *committer) gather(first *write) []*write {
	group := []*write{first}
	for asked := false; len(group) < maxGroup; {
		select {
		case w := <-c.writes:
			group = append(group, w)
			asked = false
			continue
		default:
		}
		if asked {
			break
		}
		asked = true
		runtime.Gosched()
	}
	return group
}

// commit makes a group of writes in one transaction. If the database refuses that, it makes each in
// a transaction of its own, so that no write fails because of another.
func (c *committer) commit(ctx context.Context, group []*write) {
	living := group[:0]
	for _, w := range group {
		if err := w.ctx.Err(); err != nil {
			w.answer <- err
			continue
		}
		living = append(living, w)
	}
	err := c.transact(ctx, living)
	if _, said := errors.AsType[*pgconn.PgError](err); !said || len(living) == 1 {
		c.say(living, err)
		return
	}
	for _, w := range living {
		alone := []*write{w}
		c.say(alone, c.transact(ctx, alone))
	}
}

// say answers the writes of a group.
func (c *committer) say(group []*write, err error) {
	for _, w := range group {
		switch {
		case err != nil && c.store.ctx.Err() != nil:
			w.answer <- timeline.ErrClosed
		case err != nil:
			w.answer <- c.store.explain(err)
		case w.rows == 0 && w.refusal != nil:
			w.answer <- errRefused
		default:
			if w.durable != nil {
				w.durable()
			}
			if w.rings && c.store.bell != nil {
				c.store.bell.wrote(w.run)
			}
			w.answer <- nil
		}
	}
}

// transact makes the writes of a group in one transaction, which a batch is.
func (c *committer) transact(ctx context.Context, group []*write) error {
	if len(group) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	steps := stepsOf(group)
	return retry(bounded, func() error {
		batch := &pgx.Batch{}
		for _, s := range steps {
			batch.Queue(s.sql, s.args...).Query(s.take)
		}
		return c.pool.SendBatch(bounded, batch).Close()
	})
}

// How often, and after what first pause, a write that failed for a passing reason is tried again.
const (
	tries      = 8
	firstPause = 10 * time.Millisecond
)

// unwanted marks an error that is not the database's.
type unwanted struct{ error }

func (u unwanted) Unwrap() error { return u.error }

// retry repeats do as long as that may help: every write here may be made twice.
func retry(ctx context.Context, do func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := do()
		if _, ours := errors.AsType[unwanted](err); err == nil || ours || n == tries || !passes(err) {
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return err
		}
	}
}
