package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Defaults are what a session's runs start with; empty fields get the server's defaults.
type Defaults struct {
	Model       string                  `json:"model,omitempty" maxLength:"256" doc:"provider/model"`
	AutoRecover *bool                   `json:"autoRecover,omitempty"`
	Timeouts    map[failure.Timer]int64 `json:"timeouts,omitempty" doc:"Timers in milliseconds by name; 0 is off."`
}

// Session is a conversation.
type Session struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty" doc:"What a person called it; left out where nobody did."`
	Defaults Defaults  `json:"defaults"`
	Runs     []Listed  `json:"runs" doc:"Newest first."`
	Next     string    `json:"next,omitempty" doc:"The cursor of the next page of its runs, if there may be one."`
	Updated  time.Time `json:"updatedAt,omitzero"`
}

// sessionInput names a session.
type sessionInput struct {
	query
	ID     string `path:"id" maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$" doc:"The session's id."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Before string `query:"before" minLength:"1" maxLength:"64" doc:"The cursor of the page before."`
}

// sessionChange sets a session's defaults.
type sessionChange struct {
	ID   string `path:"id" maxLength:"128" pattern:"^([A-Za-z0-9_:-]|[.][A-Za-z0-9_:-]|[.][.][A-Za-z0-9._:-])[A-Za-z0-9._:-]*$" doc:"The session's id; a new one begins a session."`
	Body Defaults
}

type sessionOutput struct {
	Body Session
}

type sessionsInput struct {
	query
	Limit int `query:"limit" minimum:"1" maximum:"500" default:"50"`
}

// SessionListed is a session in a list.
type SessionListed struct {
	ID    string `json:"id"`
	Title string `json:"title" doc:"What a person called it, or else the beginning of the first thing that the user said in it."`
	Runs  int    `json:"runs" doc:"How many it has."`
	Last  Listed `json:"last" doc:"The newest of them."`
}

type sessionsOutput struct {
	Body struct {
		Sessions []SessionListed `json:"sessions"`
	}
}

func (g *Gateway) registerSessions() {
	register(g, huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: "/v1/sessions", Tags: []string{"sessions"},
		Summary: "The conversations, the one with the newest run first",
	}, g.listSessions)
	register(g, huma.Operation{
		OperationID: "get-session", Method: http.MethodGet, Path: "/v1/sessions/{id}", Tags: []string{"sessions"},
		Summary: "A conversation: its defaults and its runs",
	}, g.getSession)
	register(g, huma.Operation{
		OperationID: "set-session", Method: http.MethodPut, Path: "/v1/sessions/{id}", Tags: []string{"sessions"},
		Summary: "Set what a conversation's runs start with", Errors: []int{http.StatusUnprocessableEntity},
	}, g.setSession)
	g.registerSessionChanges()
}

func (g *Gateway) listSessions(ctx context.Context, in *sessionsInput) (*sessionsOutput, error) {
	list, err := g.cfg.Log.Sessions(ctx, in.Limit)
	if err != nil {
		return nil, g.problem(err)
	}
	out := &sessionsOutput{}
	out.Body.Sessions = make([]SessionListed, 0, len(list))
	for _, s := range list {
		out.Body.Sessions = append(out.Body.Sessions, SessionListed{ID: s.ID, Title: s.Title, Runs: s.Runs, Last: listed(s.Last, g.cfg.Now())})
	}
	return out, nil
}

func (g *Gateway) getSession(ctx context.Context, in *sessionInput) (*sessionOutput, error) {
	defaults, err := g.cfg.Log.Session(ctx, in.ID)
	if err != nil {
		return nil, g.problem(err)
	}
	runs, err := g.listRuns(ctx, &listInput{Session: in.ID, Limit: in.Limit, Before: in.Before})
	if err != nil {
		return nil, err
	}
	s := Session{ID: in.ID, Title: defaults.Title, Runs: runs.Body.Runs, Next: runs.Body.Next}
	s.Defaults = Defaults{Model: defaults.Model, AutoRecover: defaults.AutoRecover}
	for timer, limit := range defaults.Timeouts {
		if s.Defaults.Timeouts == nil {
			s.Defaults.Timeouts = map[failure.Timer]int64{}
		}
		s.Defaults.Timeouts[timer] = int64(limit)
	}
	if len(s.Runs) > 0 {
		s.Updated = s.Runs[0].UpdatedAt
	}
	return &sessionOutput{Body: s}, nil
}

func (g *Gateway) setSession(ctx context.Context, in *sessionChange) (*sessionOutput, error) {
	settings := Settings(in.Body.Timeouts)
	if err := settings.Check(); err != nil {
		return nil, g.problem(&InputError{"timeouts", err})
	}
	if check := g.cfg.CheckModel; check != nil && in.Body.Model != "" {
		if err := check(in.Body.Model); err != nil {
			return nil, g.problem(&InputError{"model", err})
		}
	}
	err := g.changeSession(ctx, in.ID, func(s *timeline.Session) {
		s.Model, s.AutoRecover, s.Timeouts = in.Body.Model, in.Body.AutoRecover, settings
	})
	if err != nil {
		return nil, g.problem(err)
	}
	return g.getSession(ctx, &sessionInput{ID: in.ID, Limit: timeline.DefaultLimit})
}

// Settings converts the timers of a request, in milliseconds.
func Settings(timeouts map[failure.Timer]int64) recovery.Settings {
	if len(timeouts) == 0 {
		return nil
	}
	settings := recovery.Settings{}
	for timer, limit := range timeouts {
		settings[timer] = failure.Millis(limit)
	}
	return settings
}
