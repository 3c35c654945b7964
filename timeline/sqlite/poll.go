package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// poll tells the feed what other processes wrote, while somebody listens.
func (s *Store) poll(every time.Duration) {
	defer close(s.polled)
	ctx := context.Background()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var seen int64
	for {
		select {
		case <-s.closing:
			return
		case <-ticker.C:
		}
		if runs := s.feed.Runs(); len(runs) > 0 {
			seen = s.look(ctx, runs, seen)
		}
	}
}

// look tells the feed how far runs are, if the database changed since its version
// seen, and gives the version it has now. What cannot be read now is looked for
// again next time.
func (s *Store) look(ctx context.Context, runs []string, seen int64) int64 {
	version, err := s.version(ctx)
	if err != nil || version == seen {
		return seen
	}
	for _, run := range runs {
		h, err := s.find(ctx, run)
		if errors.Is(err, timeline.ErrNotFound) {
			s.feed.Deleted(run)
			continue
		}
		if err != nil {
			version = seen
			continue
		}
		s.feed.Moved(run, h.Seq, h.inbox)
	}
	return version
}

// version is PRAGMA data_version, which means something only within one connection:
// watcher is there for nothing else.
func (s *Store) version(ctx context.Context) (version int64, err error) {
	if s.watcher == nil {
		if s.watcher, err = s.readers.Conn(ctx); err != nil {
			return 0, err
		}
	}
	if err = s.watcher.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		_ = s.watcher.Close() // a fresh one next time
		s.watcher = nil
	}
	return version, err
}
