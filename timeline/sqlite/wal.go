package sqlite

import (
	"context"
	"time"
)

// Committed data is in the write-ahead log until it is moved to the database. SQLite would do that
// within the commit that makes the log long, and everybody would wait for it. So a goroutine with
// its own connection does it beside the committer, as soon as that is worthwhile. The committer
// moves the rest, which came during that: the log starts again from its beginning when all of it
// has been moved and nobody writes.

const (
	// backfillEvery is the number of transactions after which the contents of the log are moved.
	backfillEvery = 256
	// walPages is how many pages of 4 KiB the log has, at least, when it starts again: the more
	// there are, the fewer times a page that changes often is written to the database.
	walPages = 4000
	// mostWALPages is when SQLite itself shortens the log, if the goroutine does not get to it.
	mostWALPages = 4 * walPages
	// scarce is the number of free bytes on the disk below which the log is moved after every
	// transaction: once the disk is full there is no room for that, and so none to delete in.
	scarce = 16 << 20
)

const moveWAL = "PRAGMA wal_checkpoint(PASSIVE)"

// committedOne counts a transaction.
func (s *store) committedOne() {
	if s.transactions++; s.transactions%backfillEvery == 0 || s.isScarce() {
		select {
		case s.grown <- struct{}{}:
		default: // it is busy with it
		}
	}
}

// isScarce reports whether the disk is nearly full.
func (s *store) isScarce() bool {
	if time.Since(s.weighed) >= lookEvery {
		left, err := s.diskSpace()
		s.scarce, s.weighed = err == nil && left < scarce, time.Now()
	}
	return s.scarce
}

// backfill moves the contents of the log, again and again, until the store closes. After a failure
// it tries again after as many transactions: no answer depends on it.
func (s *store) backfill() {
	defer close(s.backfilled)
	ctx := context.Background()
	for {
		select {
		case <-s.grown:
		case <-s.closing:
			return
		}
		var busy, pages, moved int
		if err := s.backfiller.QueryRowContext(ctx, moveWAL).Scan(&busy, &pages, &moved); err != nil || pages < walPages {
			continue
		}
		_ = s.between(ctx, func(ctx context.Context) error {
			return s.writer.QueryRowContext(ctx, moveWAL).Scan(&busy, &pages, &moved)
		})
	}
}
