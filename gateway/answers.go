package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Answer is a person's answer to a suggestion, to a live wait or to a slow call.
type Answer struct {
	Suggestion string `json:"suggestion,omitempty" maxLength:"128" doc:"Its id, the wait's, or that of the call to cut short; by default that of the suggestion or wait that is open."`
	Action     string `json:"action" minLength:"1" maxLength:"64" doc:"An action's id, or its kind." example:"a1"`
	Model      string `json:"model,omitempty" maxLength:"256" doc:"With a switch: another model that the run may use."`
}

type answerInput struct {
	RunPath
	Body Answer
}

// Asked is a run that waits for a person.
type Asked struct {
	Run        string              `json:"run"`
	Session    string              `json:"session,omitempty"`
	Title      string              `json:"title" doc:"The beginning of what the user said."`
	Since      time.Time           `json:"since"`
	Suggestion recovery.Suggestion `json:"suggestion"`
}

type inboxOutput struct {
	Body struct {
		Suggestions []Asked `json:"suggestions"`
		Next        string  `json:"next,omitempty" doc:"The cursor of the next page, if there may be one."`
	}
}

type inboxInput struct {
	query
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"before" minLength:"1" maxLength:"64" doc:"The cursor of the page before."`
}

func (g *Gateway) registerAnswers() {
	register(g, huma.Operation{
		OperationID: "recover-run", Method: http.MethodPost, Path: "/v1/runs/{id}/recover", Tags: []string{"suggestions"},
		Summary: "Answer a run's suggestion, or cut its wait or its model call short", DefaultStatus: http.StatusAccepted,
		Description: "An answer counts once. 409: it was answered already, and instance is where the run is that goes on. 410: it has expired, was stopped, or a newer one took its place.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusUnprocessableEntity},
	}, g.recoverRun)
	register(g, huma.Operation{
		OperationID: "list-suggestions", Method: http.MethodGet, Path: "/v1/suggestions", Tags: []string{"suggestions"},
		Summary: "The suggestions that are open, newest first",
	}, g.listSuggestions)
}

func (g *Gateway) recoverRun(ctx context.Context, in *answerInput) (*runOutput, error) {
	err := g.cfg.Runs.Recover(ctx, in.ID, in.Body)
	if errors.Is(err, recovery.ErrAnswered) {
		return nil, &huma.ErrorModel{
			Status: http.StatusConflict, Title: http.StatusText(http.StatusConflict),
			Detail: "this suggestion has been answered: the run goes on", Instance: "/v1/runs/" + in.ID,
		}
	}
	if err != nil {
		return nil, g.problem(err)
	}
	return g.runOutput(ctx, in.ID)
}

func (g *Gateway) listSuggestions(ctx context.Context, in *inboxInput) (*inboxOutput, error) {
	list, err := g.cfg.Log.List(ctx, timeline.Query{SuggestionOpen: true, Limit: in.Limit, Before: in.Before})
	if err != nil {
		return nil, g.problem(err)
	}
	out := &inboxOutput{}
	out.Body.Suggestions = make([]Asked, 0, len(list))
	now := g.cfg.Now()
	for _, s := range list {
		if !s.Asks(now) {
			continue
		}
		state, err := g.runs.get(ctx, s.Run)
		if errors.Is(err, timeline.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, g.problem(err)
		}
		if open := state.OpenSuggestion(now); open != nil { // it may have been answered since
			out.Body.Suggestions = append(out.Body.Suggestions, Asked{
				Run: s.Run, Session: s.Session, Title: s.Title, Since: s.UpdatedAt, Suggestion: *open,
			})
		}
	}
	if len(list) == in.Limit {
		out.Body.Next = list[len(list)-1].Run
	}
	return out, nil
}
