package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Advice answers programs that make their model calls themselves; *advice.Desk
// implements it.
type Advice interface {
	// Decide says what a caller should do about its failed call.
	Decide(ctx context.Context, caller string, q advice.Question) (advice.Reply, error)
	// Close records how a call ended.
	Close(ctx context.Context, caller string, o advice.Outcome) (advice.Closed, error)
}

// CallerName identifies who makes a request: it is the same for everything that one token vouches
// for, and "" without a Guard.
func CallerName(ctx context.Context) string { return ownKey(ctx, "advice") }

type (
	questionInput struct{ Body advice.Question }
	answerOutput  struct{ Body advice.Reply }
	outcomeInput  struct{ Body advice.Outcome }
	closedOutput  struct{ Body advice.Closed }
)

func (g *Gateway) registerAdvice() {
	if g.cfg.Advice == nil {
		return
	}
	defer g.listKindsOfAdvice()
	register(g, huma.Operation{
		OperationID: "decide", Method: http.MethodPost, Path: "/v1/decide", Tags: []string{"advice"},
		Summary: "Ask what to do about a model call that you made yourself, and that failed",
		Description: "The same plugins are asked as by every run, under the same limits, and the call is a run of the timeline. " +
			"The same call and attempt are answered alike, so that it may be asked again. 409: a later attempt of the call was asked about already. " +
			"Whoever gets no answer within 250 ms goes on as without Mulligan.",
		MaxBodyBytes: maxQuestion, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.decide)
	register(g, huma.Operation{
		OperationID: "tell-outcome", Method: http.MethodPost, Path: "/v1/outcome", Tags: []string{"advice"},
		Summary:      "Say how a call went on that you asked about: its model cools down no more where there is an answer",
		MaxBodyBytes: maxQuestion, Errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
	}, g.outcome)
}

// listKindsOfAdvice makes the OpenAPI document list the kinds, so that any other is
// invalid.
func (g *Gateway) listKindsOfAdvice() {
	schemas := g.api.OpenAPI().Components.Schemas.Map()
	for _, name := range []string{"Evidence", "TriedCall"} {
		kind := schemas[name].Properties["kind"]
		for _, k := range failure.Kinds() {
			kind.Enum = append(kind.Enum, string(k))
		}
		kind.PrecomputeMessages()
	}
}

// maxQuestion bounds a question, in bytes.
const maxQuestion = 1 << 20

func (g *Gateway) decide(ctx context.Context, in *questionInput) (*answerOutput, error) {
	a, err := g.cfg.Advice.Decide(ctx, CallerName(ctx), in.Body)
	if err != nil {
		return nil, g.adviceProblem(err)
	}
	return &answerOutput{a}, nil
}

func (g *Gateway) outcome(ctx context.Context, in *outcomeInput) (*closedOutput, error) {
	c, err := g.cfg.Advice.Close(ctx, CallerName(ctx), in.Body)
	if err != nil {
		return nil, g.adviceProblem(err)
	}
	return &closedOutput{c}, nil
}

// adviceProblem is problem, plus the errors that only a question can have.
func (g *Gateway) adviceProblem(err error) error {
	if field, ok := errors.AsType[*advice.FieldError](err); ok {
		return g.problem(&InputError{field.Field, field.Err})
	}
	switch {
	case errors.Is(err, timeline.ErrNotFound):
		return huma.Error404NotFound("nobody has asked about this call")
	case errors.Is(err, recovery.ErrPassedOver):
		return huma.Error409Conflict(recovery.ErrPassedOver.Error())
	}
	return g.problem(err)
}
