package sqlite

import (
	"context"
	"errors"
	"slices"

	"github.com/mulligan-run/mulligan/timeline"
)

// mayJoin checks that a may begin the run of h in its session.
func mayJoin(ctx context.Context, st *statements, h *head, a *timeline.Append) error {
	session := a.Joins()
	if session == "" {
		return nil
	}
	last, err := scanHead(st.newest.QueryRowContext(ctx, session), "")
	if errors.Is(err, timeline.ErrNotFound) {
		err = a.CheckJoin(nil, false)
	} else if err == nil {
		err = a.CheckJoin(&last.Summary, last.n > h.n)
	} else {
		return err
	}
	if err != nil {
		return refuse(err)
	}
	return nil
}

// Sessions implements timeline.Store.
func (s *store) Sessions(ctx context.Context, limit int) ([]timeline.SessionSummary, error) {
	var list []timeline.SessionSummary
	var runs int
	var title string
	var kept []byte
	scan := newSummaryScan(&runs, &title, &kept)
	err := s.each(ctx, `SELECT counted, (SELECT title FROM runs WHERE runs.n = oldest), (SELECT defaults FROM sessions WHERE sessions.session = heads.session), `+summaryColumns+` FROM heads JOIN (
			SELECT MAX(n) AS newest, MIN(n) AS oldest, COUNT(*) AS counted FROM runs WHERE session > '' AND seq > 0 GROUP BY session ORDER BY newest DESC`+atMost+`
		) ON n = newest ORDER BY n DESC`, func(r row) error {
		last, err := scan.read(r)
		list = append(list, timeline.SessionSummary{ID: last.Session, Title: title, Runs: runs, Last: last, Kept: slices.Clone(kept)})
		return err
	}, limit)
	if err != nil {
		return nil, err
	}
	return list, nil
}
