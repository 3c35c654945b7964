package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/timeline"
)

// SessionPath names a session in a path.
type SessionPath struct {
	ID string `path:"id" maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$" doc:"The session's id."`
}

// sessionTitle is a person's title for a session.
type sessionTitle struct {
	SessionPath
	Body struct {
		Title string `json:"title" maxLength:"80" pattern:"^([^\\x00-\\x1f\\x7f-\\x9f]*[^\\x00-\\x1f\\x7f-\\x9f\\s][^\\x00-\\x1f\\x7f-\\x9f]*)?$" doc:"One line; empty, and the session is called as its first run is."`
	}
}

func (g *Gateway) registerSessionChanges() {
	register(g, huma.Operation{
		OperationID: "set-session-title", Method: http.MethodPut, Path: "/v1/sessions/{id}/title", Tags: []string{"sessions"},
		Summary: "Give a conversation a title", Errors: []int{http.StatusUnprocessableEntity},
		DefaultStatus: http.StatusNoContent,
	}, g.setSessionTitle)
	register(g, huma.Operation{
		OperationID: "delete-session", Method: http.MethodDelete, Path: "/v1/sessions/{id}", Tags: []string{"sessions"},
		Summary:     "Delete a conversation for good, with all that is kept of its runs",
		Description: "409: one of its runs has not ended. Cancel that one first; a run that asks a person has not ended either.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, g.deleteSession)
}

// changeSession updates what is stored about a session, using change.
func (g *Gateway) changeSession(ctx context.Context, id string, change func(*timeline.Session)) error {
	g.sessions.Lock() // otherwise one of two concurrent changes is lost
	defer g.sessions.Unlock()
	s, err := g.cfg.Log.Session(ctx, id)
	if err != nil {
		return err
	}
	change(&s)
	return g.cfg.Log.SetSession(ctx, s)
}

func (g *Gateway) setSessionTitle(ctx context.Context, in *sessionTitle) (*struct{}, error) {
	if err := timeline.CheckTitle(in.Body.Title); err != nil {
		return nil, g.problem(&InputError{"title", err})
	}
	if err := g.changeSession(ctx, in.ID, func(s *timeline.Session) { s.Title = in.Body.Title }); err != nil {
		return nil, g.problem(err)
	}
	return nil, nil
}

// deleteSession removes the title first, so that it is wiped from the store's files together with
// the runs. If the runs cannot be deleted, the title is restored.
func (g *Gateway) deleteSession(ctx context.Context, in *SessionPath) (*struct{}, error) {
	runs, err := g.endedRuns(ctx, in.ID)
	if err != nil {
		return nil, g.problem(err)
	}
	if len(runs) == 0 {
		return nil, huma.Error404NotFound("there is no such session")
	}
	var kept timeline.Session
	if err := g.changeSession(ctx, in.ID, func(s *timeline.Session) { kept, *s = *s, timeline.Session{ID: s.ID} }); err != nil {
		return nil, g.problem(err)
	}
	if err := g.cfg.Log.Delete(ctx, runs...); err != nil {
		g.keepSession(ctx, kept)
		if errors.Is(err, timeline.ErrOwned) {
			err = ErrBusy
		}
		return nil, g.problem(err)
	}
	if g.cfg.Forget != nil {
		if err := g.cfg.Forget(in.ID); err != nil {
			return nil, g.problem(err)
		}
	}
	return nil, nil
}

// keepSession restores what was stored about a session, if one of its runs still exists.
func (g *Gateway) keepSession(ctx context.Context, kept timeline.Session) {
	ctx = context.WithoutCancel(ctx) // the client may be gone
	left, err := g.cfg.Log.List(ctx, timeline.Query{Session: kept.ID, Limit: 1})
	if err == nil && len(left) > 0 {
		err = g.changeSession(ctx, kept.ID, func(s *timeline.Session) { *s = kept })
	}
	if err != nil {
		g.cfg.Logger.Warn("a conversation was not deleted, and has lost its title", "session", kept.ID, "err", err)
	}
}

// endedRuns lists a session's runs, newest first. It returns ErrBusy if one of them has not
// ended.
func (g *Gateway) endedRuns(ctx context.Context, session string) (runs []string, err error) {
	q := timeline.Query{Session: session, Limit: 500}
	for {
		list, err := g.cfg.Log.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			if !s.Ended {
				return nil, ErrBusy
			}
			runs = append(runs, s.Run)
		}
		if len(list) < q.Limit {
			return runs, nil
		}
		q.Before = list[len(list)-1].Run
	}
}
