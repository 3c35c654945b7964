package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/recovery"
)

// Model is a model that may be chosen.
type Model struct {
	Name          string             `json:"name" doc:"provider/model"`
	Provider      string             `json:"provider" doc:"The provider's name for people."`
	Ready         bool               `json:"ready" doc:"It has credentials, or needs none."`
	KeyEnv        string             `json:"keyEnv,omitempty" doc:"The environment variable that its key is read from."`
	Default       bool               `json:"default,omitempty"`
	ContextTokens int64              `json:"contextTokens,omitempty"`
	NoImages      bool               `json:"noImages,omitempty" doc:"It is known to take no pictures."`
	Cooling       *recovery.Cooldown `json:"cooling,omitempty" doc:"It is left out of the alternatives for a while."`
}

// Member is a process that shares the work of the store.
type Member struct {
	Name    string          `json:"name" doc:"The machine, the process and an id of its own, as in the owner of its runs."`
	Version string          `json:"version,omitempty"`
	Role    string          `json:"role,omitempty" doc:"all, or gateway: it begins runs and drives none"`
	Address string          `json:"address,omitempty" doc:"That it serves at."`
	Labels  recovery.Labels `json:"labels,omitempty" doc:"What its machine has, for runs that need it."`
	Joined  time.Time       `json:"joined"`
	SeenMS  int64           `json:"seenMs" doc:"How long ago it was heard of last."`
	LagMS   int64           `json:"lagMs" doc:"How long it took to be heard of then: a write to the store."`
	Drives  int             `json:"drives" doc:"How many runs it drives."`
	Gone    bool            `json:"gone,omitempty" doc:"It went without a word, less than an hour ago."`
}

type membersOutput struct {
	Body struct {
		Members []Member `json:"members"`
	}
}

type modelsOutput struct {
	Body struct {
		Models []Model `json:"models"`
	}
}

func (g *Gateway) registerThings() {
	register(g, huma.Operation{
		OperationID: "list-models", Method: http.MethodGet, Path: "/v1/models", Summary: "The models that may be chosen", Tags: []string{"things"},
	}, func(context.Context, *struct{}) (*modelsOutput, error) {
		out := &modelsOutput{}
		out.Body.Models = orEmpty(g.cfg.Models)
		return out, nil
	})
	register(g, huma.Operation{
		OperationID: "list-members", Method: http.MethodGet, Path: "/v1/members", Summary: "The processes that share the work of a database", Tags: []string{"things"},
	}, g.listMembers)
}

// listMembers returns none if there is no shared database.
func (g *Gateway) listMembers(ctx context.Context, _ *struct{}) (*membersOutput, error) {
	out := &membersOutput{}
	out.Body.Members = []Member{}
	if g.cfg.Members == nil {
		return out, nil
	}
	list, err := g.cfg.Members(ctx)
	if err != nil {
		return nil, g.problem(err)
	}
	out.Body.Members = append(out.Body.Members, list...)
	return out, nil
}

func orEmpty[T any](list func() []T) []T {
	if list == nil {
		return []T{}
	}
	return append([]T{}, list()...)
}
