package gateway

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Lab is a provider on the gateway's computer that fails on request, for people who want to
// watch a recovery without an API key. It never calls any other model.
type Lab interface {
	// Faults lists the failures that it can produce.
	Faults() LabListed
	// Fail makes its model's next call fail with the named one of Faults; "" = it does not
	// fail.
	Fail(name string) error
}

// LabListed is what the fault lab offers.
type LabListed struct {
	Model    string           `json:"model,omitempty" doc:"The model that fails when it is told to; absent where there is none."`
	Fallback string           `json:"fallback,omitempty" doc:"Another one, which answers."`
	Timeouts map[string]int64 `json:"timeouts,omitempty" doc:"Timers in milliseconds that let one watch, for runs of these models."`
	Faults   []LabFault       `json:"faults" doc:"How it can fail."`
}

// LabFault is a failure that can be watched.
type LabFault struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Does   string `json:"does" doc:"What the provider does, in a sentence."`
	Prompt string `json:"prompt" doc:"A question to watch it with."`
}

// labChoice is how the next call fails.
type labChoice struct {
	Fault string `json:"fault" maxLength:"64" doc:"One of those that GET /v1/faultlab lists; empty = it does not fail." example:"529"`
}

type labListed struct{ Body LabListed }

type labInput struct{ Body labChoice }

func (g *Gateway) registerLab() {
	register(g, huma.Operation{
		OperationID: "list-lab", Method: http.MethodGet, Path: "/v1/faultlab", Tags: []string{"things"},
		Summary: "Failures that can be watched without a key, with a model on this computer; none where there is no such model",
	}, func(context.Context, *struct{}) (*labListed, error) {
		out := &labListed{LabListed{Faults: []LabFault{}}}
		if g.cfg.Lab != nil {
			out.Body = g.cfg.Lab.Faults()
		}
		return out, nil
	})
	register(g, huma.Operation{
		OperationID: "set-lab", Method: http.MethodPut, Path: "/v1/faultlab", Tags: []string{"things"},
		Summary:     "Have the next call of the fault lab's model fail",
		Description: "409: there is no fault lab here.",
		Errors:      []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.setLab)
	if g.cfg.Lab == nil {
		return
	}
	fault := g.api.OpenAPI().Components.Schemas.Map()["LabChoice"].Properties["fault"]
	fault.Enum = []any{""}
	for _, f := range g.cfg.Lab.Faults().Faults {
		fault.Enum = append(fault.Enum, f.Name)
	}
	fault.PrecomputeMessages()
}

func (g *Gateway) setLab(_ context.Context, in *labInput) (*struct{}, error) {
	if g.cfg.Lab == nil {
		return nil, huma.Error409Conflict("there is no fault lab here")
	}
	if err := g.cfg.Lab.Fail(in.Body.Fault); err != nil {
		return nil, g.problem(&InputError{"fault", err})
	}
	return nil, nil
}
