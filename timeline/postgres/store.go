package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mulligan-run/mulligan/timeline"
)

const (
	connectTime = 10 * time.Second
	queryTime   = 10 * time.Second // the longest that any statement may take, including locks
	maxReaders  = 8                // connections
	connections = maxReaders + 4   // of a store: the readers, three that write, and one that listens
)

// Store is a timeline.Store in a database.
type Store struct {
	name   string // of the database, without a password
	member string // the id of this Store as it is open: owners with the same name in two stores are two

	readers *pgxpool.Pool
	appends *committer // appends, commands, tails, blobs: through one committer, since their order matters
	leases  *committer // which no append delays
	facts   *committer // what machines share, apart from runs
	bell    *doorbell  // nil behind a pooler

	line    atomic.Int64    // the highest timeline id of the database so far
	renewed atomic.Int64    // the timeline id for which leases have begun anew
	clock   clock           // the database's
	ctx     context.Context // ends with the store
	closing context.CancelFunc
	working sync.WaitGroup
}

var (
	_ timeline.Store    = (*Store)(nil)
	_ timeline.Shared   = (*Store)(nil)
	_ timeline.Losing   = (*Store)(nil)
	_ timeline.Doorbell = (*Store)(nil)
	_ timeline.Checker  = (*Store)(nil)
)

// Open opens the timeline in the database at a URL, postgres://user@host:port/database, with the
// parameters that pgx knows: sslmode, sslrootcert, passfile and so on. A password is better kept in
// the file that passfile or PGPASSFILE names. If the database has no timeline, one is created, if
// the role may do that. Open fails if the timeline has another schema.
func Open(ctx context.Context, url string) (*timeline.Journal, error) {
	s, err := openStore(ctx, url)
	if err != nil {
		return nil, err
	}
	return timeline.NewJournal(s), nil
}

func openStore(ctx context.Context, url string) (*Store, error) {
	settings, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{name: nameOf(settings.ConnConfig), member: rand.Text()}
	s.ctx, s.closing = context.WithCancel(context.Background())
	bounded, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	if err := s.connect(bounded, settings); err != nil {
		s.closing()
		s.disconnect()
		return nil, s.explain(err)
	}
	for _, c := range []*committer{s.appends, s.leases, s.facts} {
		s.working.Go(func() { c.run(s.ctx) })
	}
	if s.bell != nil {
		s.working.Go(func() { s.bell.announce(s.ctx) })
	}
	s.working.Go(func() { s.keepTime(s.ctx) })
	return s, nil
}

// parse reads the URL. jit is off: disabled kinds of plans count as very expensive, and compiling
// one takes a second. Timeouts on the server's side are not set if a pooler is in between, because
// it would refuse the connection; default_query_exec_mode tells.
func parse(url string) (*pgxpool.Config, error) {
	settings, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the address of the store cannot be read: it is like postgres://user@host:5432/database?sslmode=verify-full: %w", unsaid(err))
	}
	settings.ConnConfig.ConnectTimeout = connectTime
	set := settings.ConnConfig.RuntimeParams
	set["application_name"] = "mulligan"
	delete(set, "timezone") // PGTZ: days are counted in the database's time zone, not in this machine's
	if direct(settings) {
		ask(set, map[string]string{
			"idle_in_transaction_session_timeout": "2s", "default_transaction_isolation": "read committed", "jit": "off",
		})
	}
	return settings, nil
}

// direct reports whether a connection is to a server, not to a pooler.
func direct(settings *pgxpool.Config) bool {
	mode := settings.ConnConfig.DefaultQueryExecMode
	return mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeCacheDescribe
}

// ask adds to set the parameters in more that the address does not set.
func ask(set, more map[string]string) {
	for name, value := range more {
		if set[name] == "" {
			set[name] = value
		}
	}
}

// forReaders are the parameters of all other sessions.
var forReaders = map[string]string{"statement_timeout": "10s", "lock_timeout": "5s"}

// forWriters are the parameters of the sessions that write. A statement there is planned once,
// possibly while the tables are small, and must always find its rows by an index. One that takes
// too long is made again while the caller waits.
var forWriters = map[string]string{"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "statement_timeout": "4s", "lock_timeout": "3s"}

// forFacts are the parameters of the session that writes what machines share, apart from runs: what
// is lost if the database's machine fails costs a few calls at most.
var forFacts = map[string]string{"synchronous_commit": "off", "statement_timeout": "4s", "lock_timeout": "3s"}

func nameOf(c *pgx.ConnConfig) string {
	return fmt.Sprintf("%s on %s:%d", c.Database, c.Host, c.Port)
}

func (s *Store) connect(ctx context.Context, settings *pgxpool.Config) (err error) {
	pool := func(most int32, asked map[string]string) (*pgxpool.Pool, error) {
		c := settings.Copy()
		c.MaxConns, c.MinConns = most, 0
		c.AfterConnect = s.connected
		if direct(c) {
			ask(c.ConnConfig.RuntimeParams, asked)
		}
		return pgxpool.NewWithConfig(s.ctx, c)
	}
	if s.readers, err = pool(maxReaders, forReaders); err != nil {
		return err
	}
	if err := migrate(ctx, s.readers, s.name); err != nil {
		return err
	}
	for c, asked := range map[**committer]map[string]string{&s.appends: forWriters, &s.leases: forWriters, &s.facts: forFacts} {
		writer, err := pool(1, asked)
		if err != nil {
			return err
		}
		*c = newCommitter(s, writer)
	}
	if !direct(settings) {
		return nil
	}
	bells, err := pool(1, nil)
	if err == nil {
		s.bell = newDoorbell(s, bells)
	}
	return err
}

func (s *Store) disconnect() {
	if s.readers != nil {
		s.readers.Close()
	}
	for _, c := range []*committer{s.appends, s.leases, s.facts} {
		if c != nil {
			c.pool.Close()
		}
	}
	if s.bell != nil {
		s.bell.pool.Close()
	}
}

// Close implements timeline.Store. The leases of its runs end with it.
func (s *Store) Close() error {
	bounded, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	err := s.leases.do(bounded, giveUp(s.member))
	s.closing()
	s.working.Wait()
	s.disconnect()
	return err
}

// Near is the address from which this machine reaches the database, and at which others that reach
// the database should reach this machine: "127.0.0.1" if that is a socket.
func (s *Store) Near(ctx context.Context) (string, error) {
	conn, err := s.readers.Acquire(ctx)
	if err != nil {
		return "", s.explain(err)
	}
	defer conn.Release()
	if at, ok := conn.Conn().PgConn().Conn().LocalAddr().(*net.TCPAddr); ok {
		return at.AddrPort().Addr().Unmap().String(), nil
	}
	return "127.0.0.1", nil
}

// query reads, in bounded time.
func (s *Store) query(ctx context.Context, scan func(pgx.Rows) error, sql string, args ...any) error {
	if s.ctx.Err() != nil {
		return timeline.ErrClosed
	}
	bounded, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	err := retry(bounded, func() error {
		rows, err := s.readers.Query(bounded, sql, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return unwanted{err}
			}
		}
		return rows.Err()
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case s.ctx.Err() != nil:
		return timeline.ErrClosed
	}
	return s.explain(err)
}
