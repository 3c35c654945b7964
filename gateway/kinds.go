package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
)

// ErrNotLearned says that a correction failed (HTTP 409); the error that wraps it says
// why.
var ErrNotLearned = errors.New("nothing was learned")

// correction says what a run's failure really is.
type correction struct {
	Kind failure.Kind `json:"kind" minLength:"1" maxLength:"64" doc:"What such failures are from now on: one of those that GET /v1/kinds lists." example:"billing"`
	Was  failure.Kind `json:"was" minLength:"1" maxLength:"64" doc:"The kind that the run's error has now, so that it is this one that is meant." example:"rate_limit"`
}

// TransformSchema makes the OpenAPI document list the kinds, so that any other is
// invalid.
func (correction) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	kind := s.Properties["kind"]
	for _, k := range failure.LocalKinds() {
		kind.Enum = append(kind.Enum, string(k))
	}
	return s
}

// Lesson is the result of a correction.
type Lesson struct {
	Before  failure.Kind `json:"before"`
	After   failure.Kind `json:"after" doc:"What such failures are from the next one on; the run's own stays what it was."`
	Row     string       `json:"row,omitempty" doc:"What was written; absent where that is so already."`
	File    string       `json:"file,omitempty" doc:"Where, on the gateway's computer."`
	Warning string       `json:"warning,omitempty" doc:"What is dangerous about it."`
}

// KindListed is a kind that a failure may be corrected to.
type KindListed struct {
	Kind      failure.Kind `json:"kind"`
	Retryable bool         `json:"retryable" doc:"What failed so may be sent again as it is."`
}

type correctionInput struct {
	RunPath
	Body correction
}

type lessonOutput struct{ Body Lesson }

type kindsOutput struct {
	Body struct {
		Kinds []KindListed `json:"kinds"`
	}
}

func (g *Gateway) registerKinds() {
	register(g, huma.Operation{
		OperationID: "list-kinds", Method: http.MethodGet, Path: "/v1/kinds", Tags: []string{"things"},
		Summary: "The kinds that a failure may be called by instead of its own; none where this gateway takes no corrections",
	}, g.listKinds)
	register(g, huma.Operation{
		OperationID: "learn-kind", Method: http.MethodPost, Path: "/v1/runs/{id}/learn", Tags: []string{"runs"},
		Summary:     "Treat failures like the run's error as another kind from now on",
		Description: "409: nothing was learned, and detail says why: this gateway takes no corrections, the run's error is another one by now, or nobody can know it better.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.learnKind)
}

func (g *Gateway) listKinds(context.Context, *struct{}) (*kindsOutput, error) {
	out := &kindsOutput{}
	out.Body.Kinds = []KindListed{}
	if g.cfg.Learn == nil {
		return out, nil
	}
	for _, k := range failure.LocalKinds() {
		out.Body.Kinds = append(out.Body.Kinds, KindListed{k, k.Retryable()})
	}
	return out, nil
}

func (g *Gateway) learnKind(ctx context.Context, in *correctionInput) (*lessonOutput, error) {
	if g.cfg.Learn == nil {
		return nil, huma.Error409Conflict(ErrNotLearned.Error() + ": this gateway takes no corrections")
	}
	run, err := g.inspect(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if run.Open == nil || run.Open.Failure.Kind != in.Body.Was {
		return nil, huma.Error409Conflict(ErrNotLearned.Error() + ": the run's error is another one by now")
	}
	lesson, err := g.cfg.Learn(run.Open.Failure, in.Body.Kind)
	if errors.Is(err, ErrNotLearned) {
		return nil, huma.Error409Conflict(err.Error())
	}
	if err != nil {
		return nil, g.problem(err)
	}
	return &lessonOutput{lesson}, nil
}
