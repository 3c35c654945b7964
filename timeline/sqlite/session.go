package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// mayJoin makes sure that events may begin the run of h in its session.
func mayJoin(ctx context.Context, st *statements, h *head, after uint64, events []recovery.Event) error {
	started, ok := timeline.JoinsSession(after, events)
	if !ok {
		return nil
	}
	last, err := scanHead(st.newest.QueryRowContext(ctx, started.Session), "")
	if errors.Is(err, timeline.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := timeline.CheckJoin(started, last.Summary, last.n > h.n); err != nil {
		return refuse(err)
	}
	return nil
}

// Session is timeline.Log's.
func (s *Store) Session(ctx context.Context, id string) (timeline.Session, error) {
	session := timeline.Session{ID: id}
	err := s.each(ctx, "SELECT defaults FROM sessions WHERE session = ?", func(r row) error {
		var stored sql.RawBytes
		if err := r.Scan(&stored); err != nil {
			return err
		}
		return json.Unmarshal(stored, &session)
	}, id)
	return session, err
}

// SetSession is timeline.Log's.
func (s *Store) SetSession(ctx context.Context, session timeline.Session) error {
	if err := timeline.CheckSessionID(session.ID); err != nil {
		return err
	}
	defaults, err := json.Marshal(session)
	if err != nil {
		return err
	}
	return s.submit(ctx, func(ctx context.Context, st *statements) error {
		_, err := st.session.ExecContext(ctx, session.ID, defaults)
		return err
	}, nil)
}

// Sessions is timeline.Log's.
func (s *Store) Sessions(ctx context.Context, limit int) ([]timeline.SessionSummary, error) {
	if limit <= 0 {
		limit = timeline.DefaultLimit
	}
	var list []timeline.SessionSummary
	var runs int
	var title string
	scan := newSummaryScan(&runs, &title)
	err := s.each(ctx, `SELECT counted, (SELECT title FROM runs WHERE runs.n = oldest), `+summaryColumns+` FROM heads JOIN (
			SELECT MAX(n) AS newest, MIN(n) AS oldest, COUNT(*) AS counted FROM runs WHERE session > '' AND seq > 0 GROUP BY session ORDER BY newest DESC`+atMost+`
		) ON n = newest ORDER BY n DESC`, func(r row) error {
		last, err := scan.read(r)
		list = append(list, timeline.SessionSummary{ID: last.Session, Title: title, Runs: runs, Last: last})
		return err
	}, limit)
	if err != nil {
		return nil, err
	}
	return list, nil
}
