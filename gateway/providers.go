package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Providers is how the providers perform, as far as this process has seen.
type Providers struct {
	Since     time.Time       `json:"since" doc:"What is counted began then: 24 hours ago, or with this process. Runs that other processes drive are not in it."`
	Spent     recovery.Budget `json:"spent" doc:"What runs have used today: those that this process drove, or where there is a budget of the day, those of all processes that share it; calls in the air count what they reserved then."`
	Budget    recovery.Budget `json:"budget,omitzero" doc:"The budget of the day, if there is one."`
	Providers []Provider      `json:"providers" doc:"Those that have models to choose, or that were called."`
}

// Provider is a provider entry and its models.
type Provider struct {
	Name    string             `json:"name" doc:"As the names of its models begin."`
	Title   string             `json:"title" doc:"Its name for people."`
	Queued  int                `json:"queued" doc:"Calls that wait for their turn in this process: the provider said that it has too much to do."`
	Cooling *recovery.Cooldown `json:"cooling,omitempty" doc:"All of its models are left out of the alternatives for a while."`
	Models  []ModelCalls       `json:"models"`
}

// ModelCalls counts the outcomes of a model's calls.
type ModelCalls struct {
	Name         string             `json:"name" doc:"provider/model"`
	Ready        bool               `json:"ready" doc:"It has credentials, or needs none."`
	Calls        int64              `json:"calls" doc:"That were answered or failed."`
	Failed       int64              `json:"failed"`
	Failures     []KindCount        `json:"failures" doc:"Of what kind they were, the most frequent first."`
	InAir        int                `json:"inAir,omitempty" doc:"Calls that go on now."`
	P50          failure.Millis     `json:"firstP50Ms,omitempty" doc:"The first of an answer came within that many milliseconds, in half of the last 256 calls that were answered."`
	P95          failure.Millis     `json:"firstP95Ms,omitempty" doc:"And in 95 of 100 within that many."`
	Cooling      *recovery.Cooldown `json:"cooling,omitempty" doc:"It is left out of the alternatives for a while."`
	Tokens       int64              `json:"tokensToday,omitempty" doc:"Of the day, as far as the provider has said."`
	Microdollars int64              `json:"microdollarsToday,omitempty" doc:"What they cost, where the prices are known."`
}

// KindCount is how many calls failed in one way.
type KindCount struct {
	Kind  failure.Kind `json:"kind"`
	Calls int64        `json:"calls"`
}

type providersOutput struct{ Body Providers }

func (g *Gateway) registerProviders() {
	register(g, huma.Operation{
		OperationID: "list-providers", Method: http.MethodGet, Path: "/v1/providers", Tags: []string{"things"},
		Summary:     "How the providers do: calls, failures, time to the first token, cooldowns, spending",
		Description: "Counted by this process as it drives runs, in memory: nothing is looked up in the store, and a process that has just begun has counted nothing yet.",
	}, g.listProviders)
}

func (g *Gateway) listProviders(context.Context, *struct{}) (*providersOutput, error) {
	p := Providers{Since: g.cfg.Now()}
	if g.cfg.Providers != nil {
		p = g.cfg.Providers()
	}
	p.Providers = append([]Provider{}, p.Providers...) // the lists must not be null
	for i := range p.Providers {
		p.Providers[i].Models = append([]ModelCalls{}, p.Providers[i].Models...)
		for j := range p.Providers[i].Models {
			m := &p.Providers[i].Models[j]
			m.Failures = append([]KindCount{}, m.Failures...)
		}
	}
	return &providersOutput{p}, nil
}
