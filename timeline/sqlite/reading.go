package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mulligan-run/mulligan/timeline"
)

// OpenReading is Open for programs that only read. It also opens a store that cannot be written to,
// such as one on a disk that is mounted read-only, or in another user's folder. Every method that
// would write then fails with timeline.ErrReadOnly.
func OpenReading(ctx context.Context, dir string) (*timeline.Journal, error) {
	return journal(openReading(ctx, dir))
}

func openReading(ctx context.Context, dir string) (*store, error) {
	s, err := openStore(ctx, dir)
	if !errors.Is(err, timeline.ErrReadOnly) {
		return s, err
	}
	if dir, err2 := filepath.Abs(dir); err2 == nil {
		if s, err2 = openReadOnly(ctx, dir, err); err2 == nil {
			return s, nil
		}
		if !errors.Is(err2, fs.ErrNotExist) { // otherwise there is no store yet, and why none can be made is all there is to say
			err = errors.Join(err, err2)
		}
	}
	return nil, err
}

// openReadOnly opens an existing store for reading only; writers get the error why.
func openReadOnly(ctx context.Context, dir string, why error) (*store, error) {
	s := newStore(dir, filepath.Join(dir, "timeline.db"))
	s.readOnly = why
	close(s.committed)
	close(s.backfilled)
	if err := s.connectReading(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	return s, nil
}

// connectReading connects the readers. If the write-ahead log is empty, nobody has the store open,
// and SQLite needs no files beside it. Otherwise SQLite reads the log through those files.
func (s *store) connectReading(ctx context.Context) (err error) {
	if s.opened, err = os.Stat(s.file); err != nil {
		return err
	}
	dsn := s.dsn("query_only(1)") + "&mode=ro"
	if log, err := os.Stat(s.file + "-wal"); err != nil && errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		dsn += "&immutable=1"
	}
	if s.readers, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(maxReaders)
	s.readers.SetMaxIdleConns(maxReaders)
	var version int
	if err := s.readers.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("to read it, copy the folder to where you may write, and use that with --state: %w", err)
	}
	if version != len(migrations) {
		return fmt.Errorf("it is of schema %d, and this version reads %d: copy the folder to where you may write, and use that with --state", version, len(migrations))
	}
	return nil
}

// cannotWrite makes a StoreError of a system error that means that the store cannot be written to.
func cannotWrite(file string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	e := &timeline.StoreError{File: file, Err: err}
	readOnly(e)
	return e
}

func readOnly(e *timeline.StoreError) {
	e.Kind, e.Reason = timeline.ErrReadOnly, "it cannot be written to"
	e.Advice = "make the folder, its files and its disk writable for this user"
}
