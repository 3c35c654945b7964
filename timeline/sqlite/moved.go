package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// selectMoved says how far runs have got, all in one query: it is made ten times a second, for as
// many runs as are driven or followed here.
const selectMoved = `SELECT heads.run, heads.seq, inbox, ifnull(tails.attempt, 0), ifnull(length(tails.text), 0)
	FROM heads LEFT JOIN tails ON tails.run = heads.n WHERE heads.run IN (SELECT value FROM json_each(?))`

// Moved implements timeline.Shared.
func (s *store) Moved(ctx context.Context, runs []string) (moved []timeline.Moved, news bool, err error) {
	version, err := s.version(ctx)
	if err != nil || version == s.seen {
		return nil, false, err
	}
	names, err := json.Marshal(runs)
	if err != nil {
		return nil, false, err
	}
	err = s.each(ctx, selectMoved, func(r row) error {
		var m timeline.Moved
		err := r.Scan(&m.Run, &m.Seq, &m.Inbox, &m.Attempt, &m.Said)
		moved = append(moved, m)
		return err
	}, string(names))
	if err != nil {
		return nil, false, err
	}
	s.seen = version
	return moved, true, nil
}

// version is the committer's PRAGMA data_version, which this Store's own writes do not change.
func (s *store) version(ctx context.Context) (version int64, err error) {
	if s.writer == nil { // a store that only reads may get another version each time
		return time.Now().UnixNano(), nil
	}
	err = s.between(ctx, func(ctx context.Context) error {
		return s.statements.version.QueryRowContext(ctx).Scan(&version)
	})
	return version, err
}
