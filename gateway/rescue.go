package gateway

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// eventsAtOnce is how many of a run's events are held in memory while its history is
// told.
const eventsAtOnce = 500

type rescueInput struct {
	query
	RunPath
	Texts bool `query:"texts" doc:"With what users, models, tools, providers and plugins wrote. By default only how long that is: the document may be passed on."`
}

type rescueOutput struct {
	Body rescue.Rescue
}

type whatIfInput struct {
	query
	RunPath
	AutoRecover string `query:"autoRecover" enum:"true,false" doc:"As if the run had recovered automatically, or had asked first." example:"true"`
	MaxRetries  int    `query:"maxRetries" minimum:"-1" maximum:"1000" default:"-1" doc:"As if a call had been retried so often at most; -1: as it was."`
	Plugin      string `query:"plugin" minLength:"1" maxLength:"100" doc:"As if this plugin's votes alone had counted; it may be one on trial."`
	Texts       bool   `query:"texts" doc:"With the reasons that plugins gave."`
}

type whatIfOutput struct {
	Body rescue.WhatIf
}

func (g *Gateway) registerRescue() {
	register(g, huma.Operation{
		OperationID: "get-rescue", Method: http.MethodGet, Path: "/v1/runs/{id}/rescue", Tags: []string{"runs"},
		Summary: "What happened in a run, in retrospect",
		Description: "A headline that can be read aloud, and a waterfall of attempts, waits, tool calls and suggestions: what each attempt was sent, why it failed and by which evidence, " +
			"what every plugin said and what was decided. Of a long run the last 2000 stretches are told. Of the headers of an attempt that failed it has those that help to explain it; values that may be secret are never written down.",
		Errors: []int{http.StatusNotFound},
	}, g.getRescue)
	register(g, huma.Operation{
		OperationID: "get-what-if", Method: http.MethodGet, Path: "/v1/runs/{id}/what-if", Tags: []string{"runs"},
		Summary: "What would have been decided about a run's failures under other settings",
		Description: "From what was recorded: nobody is asked, and nothing is written. Each failure is judged for itself, as it happened; what would have come after another decision, nobody knows. " +
			"A plugin that had no vote then has none here; mulligan plugin replay asks it.",
		Errors: []int{http.StatusNotFound},
	}, g.getWhatIf)
}

func (g *Gateway) getRescue(ctx context.Context, in *rescueInput) (*rescueOutput, error) {
	b := rescue.NewBuilder()
	if err := g.retrace(ctx, in.ID, b.Add); err != nil {
		return nil, err
	}
	r := b.Rescue(g.cfg.Now())
	if !in.Texts {
		r = r.WithoutTexts()
	}
	return &rescueOutput{Body: r}, nil
}

func (g *Gateway) getWhatIf(ctx context.Context, in *whatIfInput) (*whatIfOutput, error) {
	change := rescue.Change{Plugin: in.Plugin}
	if in.AutoRecover != "" {
		on := in.AutoRecover == "true"
		change.AutoRecover = &on
	}
	if in.MaxRetries >= 0 {
		change.MaxRetries = &in.MaxRetries
	}
	s := rescue.Suppose(change, in.Texts)
	if err := g.retrace(ctx, in.ID, s.Add); err != nil {
		return nil, err
	}
	return &whatIfOutput{Body: s.WhatIf()}, nil
}

// retrace passes a run's events to add. It shares the limit on concurrent folds of runs.
func (g *Gateway) retrace(ctx context.Context, run string, add func(recovery.Event) error) error {
	select {
	case g.runs.places <- struct{}{}:
		defer func() { <-g.runs.places }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for after := uint64(0); ; {
		events, err := g.cfg.Log.Read(ctx, run, after, eventsAtOnce)
		if err != nil {
			return g.problem(err)
		}
		for _, e := range events {
			if err := add(e); err != nil {
				return g.problem(err)
			}
		}
		after += uint64(len(events))
		if len(events) < eventsAtOnce {
			return nil
		}
	}
}
