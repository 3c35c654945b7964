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
	Cooling       *recovery.Cooldown `json:"cooling,omitempty" doc:"It is left out of the alternatives for a while."`
}

// Plugin is a recovery plugin and how it is.
type Plugin struct {
	Name      string    `json:"name"`
	Version   string    `json:"version,omitempty"`
	State     string    `json:"state" doc:"starting, ready, backoff (it died, and is started again when it is asked), tripped (it is not asked for a while) or stopped"`
	Since     time.Time `json:"since,omitzero"`
	LastError string    `json:"lastError,omitempty"`
	Shadow    bool      `json:"shadow,omitempty" doc:"It is asked on trial: its votes never count."`
}

type modelsOutput struct {
	Body struct {
		Models []Model `json:"models"`
	}
}

type pluginsOutput struct {
	Body struct {
		Plugins []Plugin `json:"plugins"`
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
		OperationID: "list-plugins", Method: http.MethodGet, Path: "/v1/plugins", Summary: "The recovery plugins and how they are", Tags: []string{"things"},
	}, func(context.Context, *struct{}) (*pluginsOutput, error) {
		out := &pluginsOutput{}
		out.Body.Plugins = orEmpty(g.cfg.Plugins)
		return out, nil
	})
}

func orEmpty[T any](list func() []T) []T {
	if list == nil {
		return []T{}
	}
	return append([]T{}, list()...)
}
