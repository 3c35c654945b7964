package sqlite

import "context"

// What is committed lies in the write-ahead log, until it moves to the database. SQLite
// would do so within the commit after which the log is long, and everybody would wait for
// it; so a goroutine with a connection of its own does it beside the committer, as soon as
// there is something worth it. The committer does the rest, which came meanwhile: the log
// begins anew when all of it has moved and nobody writes.

const (
	// backfillEvery is after how many transactions what is in the log moves.
	backfillEvery = 256
	// walPages is how many pages of 4 KiB the log has at least when it is to begin anew: the
	// more, the fewer times is a page written to the database that changes again and again.
	walPages = 4000
	// mostWALPages is when SQLite itself makes it shorter, should the goroutine not come to it.
	mostWALPages = 4 * walPages
	// scarce is with how few bytes left on the disk what is in the log moves after each transaction:
	// once the disk is full there is no room for that, and so none to delete in.
	scarce = 16 << 20
)

const moveWAL = "PRAGMA wal_checkpoint(PASSIVE)"

// committedOne counts a transaction.
func (s *store) committedOne() {
	if s.transactions++; s.transactions%backfillEvery == 0 || s.isScarce() {
		select {
		case s.grown <- struct{}{}:
		default: // it is at it
		}
	}
}

// isScarce reports whether the disk is nearly full.
func (s *store) isScarce() bool {
	left, err := s.diskSpace()
	return err == nil && left < scarce
}

// backfill moves what is in the log, again and again, until the store closes. What fails is
// tried again after as many transactions: no answer depends on it.
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
