package sqlite

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// To wipe is to rewrite the database and to empty the write-ahead log, which is the only way to be
// sure that nothing of deleted runs is left: SQLite leaves old bytes in free pages, and in pages
// from which rows have moved. Both need the database to themselves. So each attempt is given up
// when a write has waited for a certain time, and is repeated with more time.

const (
	wipePatience = 30 * time.Second       // after that the old bytes are left where they are
	leastPiece   = 50 * time.Millisecond  // how long a write waits for the first attempt
	mostPiece    = 800 * time.Millisecond // and for a later one
	lookForWrite = 5 * time.Millisecond
	shrinkPages  = 64 // given back at a time
)

// errYielded ends an attempt because a write has waited long enough.
var errYielded = errors.New("runs or their readers used the store all the time")

// wipe removes all traces of deleted runs.
func (s *store) wipe(ctx context.Context) error {
	err := s.hasRoom(ctx)
	if errors.Is(err, timeline.ErrFull) {
		if err = s.shrink(ctx); err == nil {
			err = s.hasRoom(ctx)
		}
	}
	if err == nil {
		err = s.merge(ctx)
	}
	if err == nil {
		err = s.inTurns(ctx, s.rewrite)
	}
	if err == nil {
		err = s.inTurns(ctx, s.truncate)
	}
	if err != nil {
		return s.notWiped(err)
	}
	return nil
}

// hasRoom returns an error if a rewrite does not fit on the disk: it needs as much space again as
// is in use, and one that failed halfway would use up what is left.
func (s *store) hasRoom(ctx context.Context) error {
	var pages, free, size int64
	err := s.readers.QueryRowContext(ctx, "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").
		Scan(&pages, &free, &size)
	if err != nil {
		return err
	}
	left, err := s.diskSpace()
	if err != nil {
		return err
	}
	if left < (pages-free)*size*21/20 {
		return &timeline.StoreError{
			File: s.file, Kind: timeline.ErrFull, Reason: "no space left on device to write it anew", Advice: "free some elsewhere, or delete more runs",
		}
	}
	return nil
}

// diskSpace is how many bytes are free on the folder's disk.
func (s *store) diskSpace() (int64, error) {
	var disk syscall.Statfs_t
	err := syscall.Statfs(s.dir, &disk)
	return int64(disk.Bavail) * int64(disk.Bsize), err //nolint:gosec,unconvert // the types of its fields differ by system
}

// shrink gives free pages of the database back to the disk, a few at a time. There is space for
// that even on a full disk: each step makes room for the next.
func (s *store) shrink(ctx context.Context) error {
	for free := 1; free > 0; {
		err := s.inTurns(ctx, func(ctx context.Context) error {
			err := s.truncate(ctx)
			if err == nil || errors.Is(s.explain(err), timeline.ErrFull) { // the database will be smaller, and fit
				_, err = s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinkPages))
			}
			if err == nil {
				err = s.writer.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.inTurns(ctx, s.truncate)
}

// inTurns makes the committer try do again and again until it is done; no write waits long for any
// attempt.
func (s *store) inTurns(ctx context.Context, do func(context.Context) error) error {
	for began, piece := time.Now(), leastPiece; ; piece = min(2*piece, mostPiece) {
		err := s.between(ctx, func(ctx context.Context) error { return s.yielding(ctx, piece, do) })
		if !errors.Is(err, errYielded) || time.Since(began) > wipePatience {
			return err
		}
		select {
		case <-time.After(piece): // for the writes that waited
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rewrite rewrites the database.
func (s *store) rewrite(ctx context.Context) error {
	_, err := s.writer.ExecContext(ctx, "VACUUM")
	return err
}

// truncate empties the write-ahead log, unless somebody is still reading from it.
func (s *store) truncate(ctx context.Context) error {
	var busy, frames, moved int
	err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err == nil && busy != 0 {
		err = errYielded
	}
	return err
}

// yielding runs do on the committer's connection until a write has waited for patience. Like that,
// another process that uses the database ends it with errYielded.
func (s *store) yielding(ctx context.Context, patience time.Duration, do func(context.Context) error) (err error) {
	if _, err := s.writer.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer func() {
		stop(nil)
		_, restored := s.writer.ExecContext(context.WithoutCancel(ctx), busyTimeout)
		err = errors.Join(err, restored)
	}()
	go s.watchWrites(ctx, patience, stop)
	err = do(ctx)
	if err != nil && (errors.Is(context.Cause(ctx), errYielded) || errors.Is(s.explain(err), timeline.ErrBusy)) {
		return errYielded
	}
	return err
}

// watchWrites calls stop once a write has waited for patience.
func (s *store) watchWrites(ctx context.Context, patience time.Duration, stop func(error)) {
	ticker := time.NewTicker(lookForWrite)
	defer ticker.Stop()
	for waited := time.Duration(0); waited < patience; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if s.waiting.Load() > 0 {
			waited += lookForWrite
		}
	}
	stop(errYielded)
}

func (s *store) notWiped(err error) error {
	return &timeline.StoreError{
		File: s.file, Reason: "the runs are deleted, but their bytes are still in its files",
		Advice: "see to the cause and delete another run; with any they go", Err: s.explain(err),
	}
}
