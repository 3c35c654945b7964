package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/timeline"
)

type healthOutput struct {
	Body struct {
		Status  string `json:"status" example:"ok"`
		Version string `json:"version,omitempty"`
	}
}

func (g *Gateway) registerHealth() {
	register(g, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Summary: "Whether the gateway is up", Tags: []string{"health"},
		Security: anybody,
	}, func(context.Context, *struct{}) (*healthOutput, error) { return g.healthy(), nil })
	register(g, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Summary: "Whether it can work: its store would take a run", Tags: []string{"health"},
		Security: anybody, Errors: []int{http.StatusServiceUnavailable},
	}, g.ready)
	if g.cfg.Metrics != nil {
		g.handle(&huma.Operation{
			OperationID: "metrics", Method: http.MethodGet, Path: "/metrics", Summary: "What Prometheus reads", Tags: []string{"health"},
			Responses: map[string]*huma.Response{"200": {
				Description: "In the form that the request accepts.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}},
			}},
		}, g.cfg.Metrics.ServeHTTP)
	}
}

func (g *Gateway) healthy() *healthOutput {
	out := &healthOutput{}
	out.Body.Status, out.Body.Version = "ok", g.cfg.Version
	return out
}

func (g *Gateway) ready(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := g.cfg.Log.List(ctx, timeline.Query{Limit: 1})
	if err == nil {
		err = timeline.CheckOf(ctx, g.cfg.Log)
	}
	if err == nil {
		return g.healthy(), nil
	}
	if store, ok := errors.AsType[*timeline.StoreError](err); ok {
		return nil, g.noStore(store)
	}
	g.cfg.Logger.Warn("the store does not answer", "err", err)
	return nil, huma.Error503ServiceUnavailable("the store does not answer")
}

// noStore says that the store is failing and what to do; the reason is only logged.
func (g *Gateway) noStore(e *timeline.StoreError) error {
	g.cfg.Logger.Warn("the store fails", "err", e)
	why := "the store: " + e.Reason
	if e.Advice != "" {
		why += ": " + e.Advice
	}
	return huma.Error503ServiceUnavailable(why)
}
