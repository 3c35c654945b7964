package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/answers"
	"github.com/mulligan-run/mulligan/timeline"
)

// answersBody says which open suggestions to answer, and how.
type answersBody struct {
	Kind     kindName `json:"kind,omitempty" doc:"Those of runs that failed so."`
	Provider string   `json:"provider,omitempty" minLength:"1" maxLength:"128" doc:"Those of runs that this provider's entry failed." example:"anthropic"`
	Session  string   `json:"session,omitempty" minLength:"1" maxLength:"128" doc:"Those of this conversation."`
	Label    []string `json:"label,omitempty" maxItems:"16" pattern:"^[a-z0-9][a-z0-9._/-]{0,63}=[^\\x00-\\x1f\\x7f-\\x9f]{0,256}$" doc:"Those of runs with this label, as name=value; with all of them, if there are several."`
	Text     string   `json:"text,omitempty" minLength:"1" maxLength:"200" doc:"Those of runs with this in their title, or in what failed."`
	Runs     []string `json:"runs,omitempty" maxItems:"1000" doc:"Those of these runs."`
	Action   string   `json:"action,omitempty" minLength:"1" maxLength:"64" doc:"An action's kind; by default the one that each run suggests." example:"switch_model"`
	Model    string   `json:"model,omitempty" minLength:"1" maxLength:"256" doc:"With a switch: only where this model is offered." example:"openai/gpt-5.2"`
	DryRun   bool     `json:"dryRun,omitempty" doc:"Only say what would be done."`
	Limit    int      `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"1000" doc:"How many are answered at the most."`
}

type answersInput struct{ Body answersBody }

// AnsweredOne is the result for one of the suggestions that were answered together.
type AnsweredOne struct {
	Run    string `json:"run"`
	Title  string `json:"title"`
	State  string `json:"state" enum:"would,sent,none,failed" doc:"would: it would be answered so. sent: the answer is durable, and the run goes on by it. none: it offers nothing like that. failed: detail says why; ask again."`
	Action string `json:"action,omitempty"`
	Model  string `json:"model,omitempty" doc:"That it switches to."`
	Label  string `json:"label,omitempty" doc:"Of the action, for people."`
	Detail string `json:"detail,omitempty"`
}

type answersOutput struct {
	Body struct {
		Results []AnsweredOne `json:"results"`
		More    bool          `json:"more,omitempty" doc:"There are more than the limit: ask again."`
	}
}

// OpenCause is a cause for which several runs wait for a person.
type OpenCause struct {
	Kind     failure.Kind  `json:"kind,omitempty"`
	Provider string        `json:"provider,omitempty" doc:"The entry that failed."`
	Title    string        `json:"title" doc:"What failed, for people."`
	Runs     int           `json:"runs"`
	Since    time.Time     `json:"since" doc:"Since when the first of them waits."`
	Expires  time.Time     `json:"expiresAt" doc:"When the first of their suggestions does."`
	Offers   []OfferedOnce `json:"offers" doc:"What may be answered, the suggested action first."`
}

// OfferedOnce is an action, and how many runs offer it.
type OfferedOnce struct {
	Action string `json:"action"`
	Model  string `json:"model,omitempty"`
	Label  string `json:"label"`
	Runs   int    `json:"runs"`
}

type causesOutput struct {
	Body struct {
		Causes []OpenCause `json:"causes"`
	}
}

func (g *Gateway) registerTogether() {
	register(g, huma.Operation{
		OperationID: "answer-suggestions", Method: http.MethodPost, Path: "/v1/suggestions/answers", Tags: []string{"suggestions"},
		Summary:     "Answer many suggestions at once",
		Description: "Each counts once, however often this is asked: what was sent goes on whatever becomes of the request, and an answer to it that did not arrive may be asked for again.",
		Errors:      []int{http.StatusUnprocessableEntity},
	}, g.answerAll)
	register(g, huma.Operation{
		OperationID: "list-causes", Method: http.MethodGet, Path: "/v1/suggestions/causes", Tags: []string{"suggestions"},
		Summary: "What the open suggestions are about, the cause of the most first",
	}, g.listCauses)
}

func (g *Gateway) answerAll(ctx context.Context, in *answersInput) (*answersOutput, error) {
	b := in.Body
	q := timeline.Query{Session: b.Session, Text: b.Text, Limit: b.Limit}
	some, err := timeline.Filter{Kind: string(b.Kind), Labels: b.Label}.Restrict(&q, g.cfg.Now())
	if wrong, ok := errors.AsType[*timeline.FilterError](err); ok {
		err = &InputError{Field: wrong.Field, Err: wrong.Err}
	}
	if err != nil {
		return nil, g.problem(err)
	}
	out := &answersOutput{}
	out.Body.Results = []AnsweredOne{}
	if !some {
		return out, nil
	}
	results, more, err := answers.All(ctx, g.cfg.Log, answers.Request{
		Query: q, Provider: b.Provider, Runs: b.Runs, Action: b.Action, Model: b.Model, Preview: b.DryRun,
	}, g.cfg.Now(), nil)
	if err != nil {
		return nil, g.problem(err)
	}
	for _, r := range results {
		one := AnsweredOne{Run: r.Run.Run, Title: r.Run.Title, State: r.State, Action: r.Offer.Kind, Model: r.Offer.Model, Label: r.Offer.Label}
		if r.Err != nil {
			one.Detail = r.Err.Error()
		}
		out.Body.Results = append(out.Body.Results, one)
	}
	out.Body.More = more
	return out, nil
}

func (g *Gateway) listCauses(ctx context.Context, _ *struct{}) (*causesOutput, error) {
	causes, err := answers.Causes(ctx, g.cfg.Log, timeline.Query{}, g.cfg.Now())
	if err != nil {
		return nil, g.problem(err)
	}
	out := &causesOutput{}
	out.Body.Causes = make([]OpenCause, 0, len(causes))
	for _, c := range causes {
		one := OpenCause{Kind: c.Kind, Provider: c.Provider, Title: c.Title, Runs: c.Runs, Since: c.Since, Expires: c.Expires, Offers: []OfferedOnce{}}
		for _, o := range c.Offers {
			one.Offers = append(one.Offers, OfferedOnce{Action: o.Kind, Model: o.Model, Label: o.Label, Runs: o.Runs})
		}
		out.Body.Causes = append(out.Body.Causes, one)
	}
	return out, nil
}
