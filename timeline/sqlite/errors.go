package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/mulligan-run/mulligan/timeline"
)

// explain says what a failure of the database means and what to do about it.
func (s *Store) explain(err error) error {
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
		e.Reason, e.Advice = "no space left on device", "free some, for example by `mulligan runs prune`"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		e.Reason, e.Advice = "it cannot be written to", "make the folder, its files and its disk writable for this user"
	case lib.SQLITE_CANTOPEN:
		e.Reason, e.Advice = "it cannot be opened", "see that the folder is there, that this user may write to it, and that the disk has space"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		e.Reason, e.Advice = "another process has been writing to it for 5 s", "see which one that is, and whether it stands still"
	case lib.SQLITE_IOERR:
		e.Reason, e.Advice = "the disk failed", "look at the system's log, and at the disk's space"
		if code == lib.SQLITE_IOERR_NOMEM {
			e.Reason, e.Advice = "there is not enough memory", "end other programs"
		}
	case lib.SQLITE_NOMEM:
		e.Reason, e.Advice = "there is not enough memory", "end other programs"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		e.Reason, e.Advice = "it is damaged", "move the folder away and import the last export of its runs"
		e.Err = fmt.Errorf("%w: %w", timeline.ErrDamaged, err)
	default:
		e.Reason = "the database failed"
	}
	return e
}
