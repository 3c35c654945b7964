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
	queryTime   = 10 * time.Second // the longest that anything may take, locks included
	maxReaders  = 8                // connections
	connections = maxReaders + 4   // of a store: those that write, and one that listens
)

// Store is a timeline.Store in a database.
type Store struct {
	name   string // of the database, without a password
	member string // this Store, among those that are open: owners of one name in two are two

	readers *pgxpool.Pool
	appends *committer // appends, commands, tails, blobs: in one line, since their order matters
	leases  *committer // which no append keeps waiting
	facts   *committer // what machines know together, apart from runs
	bell    *doorbell  // nil behind a pooler

	line    atomic.Int64    // the highest timeline id of the database that was seen
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
// parameters that pgx knows: sslmode, sslrootcert, passfile and so on. A password is better in
// the file that passfile or PGPASSFILE names. A database without a timeline gets one, where the
// role may make it. It fails if the timeline there is of another schema.
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
	return s, nil
}

// parse reads the URL. Nothing is compiled (jit): plans that are told to avoid what they cannot
// count as very expensive, and to compile one takes a second. What bounds a query on the server's side is not asked for where a pooler
// stands between, which is told by default_query_exec_mode: it would refuse the connection.
func parse(url string) (*pgxpool.Config, error) {
	settings, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the address of the store cannot be read: it is like postgres://user@host:5432/database?sslmode=verify-full: %w", unsaid(err))
	}
	settings.ConnConfig.ConnectTimeout = connectTime
	set := settings.ConnConfig.RuntimeParams
	set["application_name"] = "mulligan"
	delete(set, "timezone") // PGTZ: days are counted in the database's, not in this machine's
	if direct(settings) {
		ask(set, map[string]string{
			"idle_in_transaction_session_timeout": "2s", "default_transaction_isolation": "read committed", "jit": "off",
		})
	}
	return settings, nil
}

// direct reports whether a connection is to a server and not to a pooler.
func direct(settings *pgxpool.Config) bool {
	mode := settings.ConnConfig.DefaultQueryExecMode
	return mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeCacheDescribe
}

// ask adds to what is asked of a session what the address says nothing of.
func ask(set, more map[string]string) {
	for name, value := range more {
		if set[name] == "" {
			set[name] = value
		}
	}
}

// forReaders are asked of all others.
var forReaders = map[string]string{"statement_timeout": "10s", "lock_timeout": "5s"}

// forWriters are asked of the sessions that write. A statement there is planned once, maybe while
// the tables are small, and finds its rows by an index for ever; one that takes long is made again
// while the caller waits.
var forWriters = map[string]string{"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "statement_timeout": "4s", "lock_timeout": "3s"}

// forFacts are asked of the session that writes what machines know together, apart from runs: what
// is lost with the database's power costs a call or a few.
var forFacts = map[string]string{"synchronous_commit": "off", "statement_timeout": "4s", "lock_timeout": "3s"}

func nameOf(c *pgx.ConnConfig) string {
	return fmt.Sprintf("%s on %s:%d", c.Database, c.Host, c.Port)
}

func (s *Store) connect(ctx context.Context, settings *pgxpool.Config) (err error) {
	pool := func(most int32, asked map[string]string) (*pgxpool.Pool, error) {
		c := settings.Copy()
		c.MaxConns, c.MinConns = most, 0
		c.AfterConnect = s.notOlder
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

// Close implements timeline.Store. The leases of its runs are over with it.
func (s *Store) Close() error {
	bounded, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	err := s.leases.do(bounded, giveUp(s.member))
	s.closing()
	s.working.Wait()
	s.disconnect()
	return err
}

// Near is the address by which this machine reaches the database, and so the one by which others that
// do may reach this machine: "127.0.0.1" where that is a socket.
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
