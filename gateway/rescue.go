package gateway

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// eventsAtOnce is how many events of a run are held while what happened is told.
const eventsAtOnce = 500

type rescueInput struct {
	query
	RunPath
	Texts bool `query:"texts" doc:"With what users, models, tools, providers and plugins wrote. By default only how long that is: the document may be passed on."`
}

type rescueOutput struct {
	Body rescue.Rescue
}

func (g *Gateway) registerRescue() {
	register(g, huma.Operation{
		OperationID: "get-rescue", Method: http.MethodGet, Path: "/v1/runs/{id}/rescue", Tags: []string{"runs"},
		Summary: "What happened in a run, in retrospect",
		Description: "A headline that can be read aloud, and a waterfall of attempts, waits, tool calls and suggestions: what each attempt was sent, why it failed and by which evidence, " +
			"what every plugin said and what was decided. Of a long run the last 2000 stretches are told. Request headers are never written down, and so are not in it.",
		Errors: []int{http.StatusNotFound},
	}, g.getRescue)
}

func (g *Gateway) getRescue(ctx context.Context, in *rescueInput) (*rescueOutput, error) {
	select { // as many as runs are folded at a time
	case g.runs.places <- struct{}{}:
		defer func() { <-g.runs.places }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	b, after := rescue.NewBuilder(), uint64(0)
	for {
		events, err := g.cfg.Log.Read(ctx, in.ID, after, eventsAtOnce)
		if err != nil {
			return nil, g.problem(err)
		}
		for _, e := range events {
			if err := b.Add(e); err != nil {
				return nil, g.problem(err)
			}
		}
		after += uint64(len(events))
		if len(events) < eventsAtOnce {
			break
		}
	}
	r := b.Rescue(g.cfg.Now())
	if !in.Texts {
		r = r.WithoutTexts()
	}
	return &rescueOutput{Body: r}, nil
}
