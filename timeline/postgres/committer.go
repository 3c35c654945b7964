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

// maxGroup is how many writes share a transaction at the most.
const maxGroup = 256

// write is one statement, which does what it says and gives rows or, refused, nothing. It may be
// made again where nobody knows whether it was: it is refused then, or changes nothing.
type write struct {
	run   string // that it is about: what is about one of them keeps its order
	sql   string
	args  []any
	rings bool       // others are told of it
	more  *extension // in the place of sql and args: what may share a statement
	// read takes a row; it may be called again for the same rows.
	read func(pgx.Rows) error
	// durable is called once it is, unless it was refused.
	durable func()
	// refusal says why it was refused; nil where that is no failure. Whoever waits for the
	// answer asks, and no other write is kept waiting by that.
	refusal func(ctx context.Context) error

	ctx    context.Context
	rows   int // the committer's: that it gave
	answer chan error
}

// errRefused is the answer to a write that gave no row.
var errRefused = errors.New("refused")

// committer makes writes, on a connection of its own: those that wait, up to maxGroup, in one
// transaction, which costs one round trip and one sync.
type committer struct {
	store  *Store
	pool   *pgxpool.Pool // of one connection
	writes chan *write
}

func newCommitter(s *Store, pool *pgxpool.Pool) *committer {
	return &committer{store: s, pool: pool, writes: make(chan *write)}
}

// do has w written and waits for its commit.
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
		if err == errRefused { //nolint:errorlint // it is the committer's, as it is
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

// gather is first and what waits beside it: those whom the last commit answered come back as
// soon as they may run.
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

// commit makes a group of writes in one transaction; if the database refuses that, each alone, so
// that nobody fails for another's write.
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

// say answers those of a group.
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

// transact makes the writes of a group in one transaction: a batch up to its end is one.
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

// How often, and after what pause, what has failed for a reason that passes is tried again.
const (
	tries      = 8
	firstPause = 10 * time.Millisecond
)

// unwanted marks an error that is not the database's.
type unwanted struct{ error }

func (u unwanted) Unwrap() error { return u.error }

// retry does something again while that may help: every write here may be made twice.
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
