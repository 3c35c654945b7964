package sqlite

import (
	"context"
	"encoding/json"
	"time"
)

// selectMoved gives how far runs are, all in one query: there are as many as are driven or
// followed here, ten times in a second.
const selectMoved = "SELECT run, seq, inbox FROM heads WHERE run IN (SELECT value FROM json_each(?))"

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

// look tells the feed how far runs are, if others changed the database since its version
// seen, and gives the version it has now. What cannot be read now is looked for
// again next time.
func (s *Store) look(ctx context.Context, runs []string, seen int64) int64 {
	version, err := s.version(ctx)
	if err != nil || version == seen {
		return seen
	}
	names, err := json.Marshal(runs)
	if err != nil {
		return seen
	}
	gone := make(map[string]bool, len(runs))
	for _, run := range runs {
		gone[run] = true
	}
	err = s.each(ctx, selectMoved, func(r row) error {
		var run string
		var seq, inbox int64
		if err := r.Scan(&run, &seq, &inbox); err != nil {
			return err
		}
		delete(gone, run)
		s.feed.Moved(run, uint64(seq), uint64(inbox)) //nolint:gosec // we wrote it
		return nil
	}, string(names))
	if err != nil {
		return seen
	}
	for run := range gone {
		s.feed.Deleted(run)
	}
	return version
}

// version is the committer's PRAGMA data_version: what this Store writes does not change
// it.
func (s *Store) version(ctx context.Context) (version int64, err error) {
	if s.writer == nil { // it only reads: it may be another version each time
		return time.Now().UnixNano(), nil
	}
	err = s.between(ctx, func(ctx context.Context) error {
		return s.statements.version.QueryRowContext(ctx).Scan(&version)
	})
	return version, err
}
