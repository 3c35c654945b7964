package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver, in pure Go

	"github.com/mulligan-run/mulligan/timeline"
)

// store is a timeline.Store in a folder.
type store struct {
	dir, file string
	opened    os.FileInfo // the database file, to recognise it
	readOnly  error       // why nothing can be written; nil = it can be
	lock      *lockFile
	seen      int64 // the database's version at the last Moved
	kept      kept

	writes     chan *write
	deferred   chan *write // deferred writes, which nobody waits for
	chores     chan *chore
	writing    *sql.DB // the database that has writer as its only connection
	writer     *sql.Conn
	statements *statements
	readers    *sql.DB
	prepared   prepared // of the readers
	backfiller *sql.DB  // used by one goroutine

	// The committer's:
	transactions int
	met          time.Time // when the database file was last seen in its place
	weighed      time.Time // when the disk's space was last looked at
	scarce       bool      // there was little then

	waiting atomic.Int64  // writes that the committer has not taken yet
	grown   chan struct{} // of capacity 1: the write-ahead log may have grown long

	closing    chan struct{}
	committed  chan struct{} // closed when the committer has ended
	backfilled chan struct{} // closed when the write-ahead log is no longer moved
}

var (
	_ timeline.Store   = (*store)(nil)
	_ timeline.Shared  = (*store)(nil)
	_ timeline.Checker = (*store)(nil)
)

// maxReaders is how many connections may read at the same time.
const maxReaders = 8

// lookEvery is how often the committer looks whether the database file is still in its place, and
// the disk has space, at most: looking at every transaction would take 3 % of a run's step.
const lookEvery = 10 * time.Millisecond

const busyTimeout = "PRAGMA busy_timeout = 5000"

// cacheKiB is how many KiB of pages the writer keeps in memory.
const cacheKiB = 8 << 10

// Open opens the timeline in the folder dir, or creates both. It fails if others may write to the
// folder, or if the store has a newer schema.
func Open(ctx context.Context, dir string) (*timeline.Journal, error) {
	return journal(openStore(ctx, dir))
}

func journal(s *store, err error) (*timeline.Journal, error) {
	if err != nil {
		return nil, err
	}
	return timeline.NewJournal(s), nil
}

func openStore(ctx context.Context, dir string) (*store, error) {
	if dir == "" { // of a setting that is missing; the working directory is "."
		return nil, errors.New("timeline store: no folder is named")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	file, err := prepare(dir)
	if err = cannotWrite(file, err); errors.Is(err, timeline.ErrReadOnly) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("timeline store: %w", err)
	}
	s := newStore(dir, file)
	err = s.connect(ctx)
	if errors.Is(s.explain(err), timeline.ErrFull) && s.useReserve(openingSize) {
		_ = s.disconnect()
		err = s.connect(ctx)
	} else if err == nil {
		s.keepReserve()
	}
	if err != nil {
		err = cannotWrite(file, s.explain(err))
		if _, ok := errors.AsType[*timeline.StoreError](err); !ok {
			err = fmt.Errorf("timeline store %s: %w", file, err)
		}
		return nil, errors.Join(err, s.disconnect())
	}
	sweep(dir)
	go s.commit()
	go s.backfill()
	return s, nil
}

func newStore(dir, file string) *store {
	return &store{
		dir: dir, file: file, kept: kept{of: map[string]*keeper{}}, writes: make(chan *write), deferred: make(chan *write), chores: make(chan *chore),
		closing: make(chan struct{}), committed: make(chan struct{}),
		grown: make(chan struct{}, 1), backfilled: make(chan struct{}),
	}
}

func (s *store) connect(ctx context.Context) (err error) {
	if s.writing, err = sql.Open("sqlite", s.dsn("auto_vacuum(incremental)", "journal_mode(wal)", "synchronous(full)",
		"temp_store(memory)", fmt.Sprintf("wal_autocheckpoint(%d)", mostWALPages), fmt.Sprintf("cache_size(-%d)", cacheKiB))); err != nil {
		return err
	}
	if s.writer, err = s.writing.Conn(ctx); err != nil {
		return err
	}
	if err = migrate(ctx, s.writer, s.file); err != nil {
		return err
	}
	if s.statements, err = prepareStatements(ctx, s.writer); err != nil {
		return err
	}
	if s.readers, err = sql.Open("sqlite", s.dsn("query_only(1)")); err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(maxReaders)
	s.readers.SetMaxIdleConns(maxReaders)
	if s.backfiller, err = sql.Open("sqlite", s.dsn("synchronous(full)")); err != nil {
		return err
	}
	if s.opened, err = os.Stat(s.file); err != nil {
		return err
	}
	s.lock, err = newLock(s.dir)
	return err
}

// dsn is the database's address, with a wait of up to 5 s for another process's transaction.
func (s *store) dsn(pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)} // the same as busyTimeout
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.file), RawQuery: q.Encode()}).String()
}

func (s *store) disconnect() error {
	var errs []error
	if s.statements != nil {
		errs = append(errs, s.statements.close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
	}
	for _, db := range []*sql.DB{s.readers, s.backfiller, s.writing} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.release(s.dir))
	}
	return errors.Join(errs...)
}

// Close ends the committer, and lets others claim its runs immediately. Each write that was not
// answered yet is either durable or refused.
func (s *store) Close() error {
	close(s.closing)
	<-s.committed
	<-s.backfilled
	err := s.disconnect()
	if s.readOnly == nil {
		s.keepReserve()
	}
	return err
}
