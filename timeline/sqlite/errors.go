package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/mulligan-run/mulligan/timeline"
)

// explain turns a failure of the database into a StoreError that says what it means and what to do
// about it.
func (s *store) explain(err error) error {
	if err == nil {
		return nil
	}
	var said *timeline.StoreError
	failure, ok := errors.AsType[*sqlite.Error](err)
	if errors.As(err, &said) || !ok {
		return err
	}
	e := &timeline.StoreError{File: s.file, Err: err}
	switch code := failure.Code(); code & 0xff {
	case lib.SQLITE_FULL:
		full(e)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		readOnly(e)
		if code == lib.SQLITE_READONLY_DBMOVED {
			s.gone(e)
		}
	case lib.SQLITE_CANTOPEN:
		s.gone(e)
		if _, err := os.Stat(s.file); err == nil {
			e.Reason, e.Advice = "it cannot be opened", "see that this user may write to the folder, and that the disk has space"
		}
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		e.Kind, e.Reason, e.Advice = timeline.ErrBusy, "another process has been writing to it for 5 s", "see which one that is, and whether it stands still"
	case lib.SQLITE_IOERR:
		diskFails(e)
		switch left, err := s.diskSpace(); {
		case code == lib.SQLITE_IOERR_NOMEM:
			e.Kind, e.Reason, e.Advice = nil, "there is not enough memory", "end other programs"
		case code == lib.SQLITE_IOERR_SHMSIZE && err == nil && left < openingSize: // there is no space for the log's index
			full(e)
		}
	case lib.SQLITE_NOMEM:
		e.Reason, e.Advice = "there is not enough memory", "end other programs"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		e.Kind, e.Reason, e.Advice = timeline.ErrDamaged, "it is damaged", "move the folder away and import the last export of its runs"
		if code&0xff == lib.SQLITE_CORRUPT && s.isSound() {
			diskFails(e)
		}
	default:
		e.Reason = "the database failed"
	}
	return e
}

// isThere returns an error if the database file is not the one that was opened: SQLite would go on
// writing to the old one, and nobody else would see it.
func (s *store) isThere() error {
	if time.Since(s.met) < lookEvery {
		return nil
	}
	now, err := os.Stat(s.file)
	if err == nil && os.SameFile(now, s.opened) {
		s.met = time.Now()
		return nil
	}
	e := &timeline.StoreError{File: s.file, Err: err}
	s.gone(e)
	return e
}

func (s *store) gone(e *timeline.StoreError) {
	e.Kind, e.Reason = timeline.ErrGone, "it is gone: its folder was moved or deleted, or its disk is not there"
	e.Advice = "bring it back, and start again what uses it"
}

func full(e *timeline.StoreError) {
	e.Kind, e.Reason, e.Advice = timeline.ErrFull, "no space left on device", "free some, for example by `mulligan runs prune`"
}

func diskFails(e *timeline.StoreError) {
	e.Kind, e.Reason, e.Advice = timeline.ErrDisk, "the disk failed", "look at the system's log, and at the disk's space"
}

// checkTime bounds a check of the whole store.
const checkTime = 10 * time.Second

// isSound reports whether a database that SQLite calls damaged is not: SQLite also says so about a
// page that the disk failed to read. If the files cannot be read to the end, their contents are
// unknown. If the database then finds no fault with itself, the disk has recovered.
func (s *store) isSound() bool {
	ctx, stop := context.WithTimeout(context.Background(), checkTime)
	defer stop()
	for _, file := range []string{s.file, s.file + "-wal"} {
		if err := readThrough(ctx, file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	db, err := sql.Open("sqlite", s.dsn("query_only(1)"))
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	var verdict string
	err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	return err == nil && verdict == "ok"
}

// readThrough reads a file to its end.
func readThrough(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for piece := make([]byte, 1<<20); ctx.Err() == nil; {
		if _, err := f.Read(piece); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
